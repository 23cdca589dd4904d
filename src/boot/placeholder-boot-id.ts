import type { BootId } from '../core/boot-event.ts'

/** Boot ids have one length, so a HEAD can tell the length of a script without minting one. */
export const placeholderBootId = 'AAAAAAAAAAAAAAAAAAAAAA' as BootId
