/** Languages that loaders read; a folder of templates each. */
export const dialects = ['ipxe', 'grub', 'pxelinux'] as const
export type Dialect = (typeof dialects)[number]

/** The line that every script of a dialect begins with; empty where its loader asks for none. */
export const magicLine: Readonly<Record<Dialect, string>> = { ipxe: '#!ipxe\n', grub: '', pxelinux: '' }

/**
 * What stands before the template of every decision. A GRUB cannot tell a file that it read from one that did not
 * arrive, so the answer says that it is one.
 */
export const answerLine: Readonly<Record<Dialect, string>> = {
  ipxe: '',
  grub: 'set answered=yes\n',
  pxelinux: '',
}
