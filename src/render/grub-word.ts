/** Letters and marks that mean nothing to GRUB's shell, wherever they stand. */
const plain = /^[A-Za-z0-9._:@%/,=+-]+$/

/**
 * A text as one word of GRUB's script language. What is not plain is put in single quotes, in which everything means
 * itself but the single quote (GRUB manual, "Quoting"; field case 119).
 *
 * GRUB puts a backslash before each quote and backslash when it hands arguments to a kernel (seen with 2.06 and 2.12):
 * `a"b` arrives as `a\"b`, whatever is written here.
 */
export function grubWord(text: string): string {
  return plain.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
