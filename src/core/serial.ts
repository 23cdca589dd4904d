/** What vendors leave in SMBIOS instead of a serial, lower case; it names thousands of machines and so none. */
const placeholders: ReadonlySet<string> = new Set([
  'no asset tag',
  'to be filled by o.e.m.',
  'not specified',
  'not applicable',
  'not available',
  'default string',
  'system serial number',
  'chassis serial number',
  'serial number',
  'none',
  'null',
  'n/a',
  'unknown',
  'empty',
  'invalid',
  'oem',
  'o.e.m.',
  '0123456789',
  '123456789',
  '1234567890',
])

/** Whether a serial is what vendors put into every machine, in any case, so that no machine is known by it (field case 121). */
export function isPlaceholderSerial(text: string): boolean {
  return isOneCharacter(text) || placeholders.has(text.toLowerCase())
}

/** `0`, `0000000`, `XXXXXXX`, `.......`: one character over and over. A single letter may be meant. */
function isOneCharacter(text: string): boolean {
  const first = text.charAt(0)
  return text === first.repeat(text.length) && (text.length > 1 || !/^[a-z]$/i.test(first))
}
