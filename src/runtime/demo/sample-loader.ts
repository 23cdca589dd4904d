import { createHash } from 'node:crypto'
import { noise } from './noise.ts'

/** A loader that shows the way and starts nowhere: a well-formed EFI program whose only content is made up. */
export interface SampleLoader {
  readonly name: string
  readonly bytes: Buffer
  readonly sha256: string
}

const machineX64 = 0x8664
const efiApplication = 10
const pe32Plus = 0x20b
const peAt = 64
const optionalAt = peAt + 24
const optionalSize = 240
const sectionAt = optionalAt + optionalSize
const contentAt = 512
const directoryCount = 16

/**
 * The file that UEFI x64 asks for first. PE/COFF headers as the specification wants them (file headers, optional header,
 * one section), then the words by which an iPXE is recognised, then noise: enough for transfers to be seen.
 */
export function makeSampleLoader(sizeBytes = 256 * 1024): SampleLoader {
  const bytes = Buffer.alloc(sizeBytes)
  bytes.write('MZ', 0, 'latin1')
  bytes.writeUInt32LE(peAt, 0x3c)
  bytes.write('PE\0\0', peAt, 'latin1')
  bytes.writeUInt16LE(machineX64, peAt + 4)
  bytes.writeUInt16LE(1, peAt + 6)
  bytes.writeUInt16LE(optionalSize, peAt + 20)
  bytes.writeUInt16LE(pe32Plus, optionalAt)
  bytes.writeUInt32LE(contentAt, optionalAt + 32)
  bytes.writeUInt32LE(contentAt, optionalAt + 36)
  bytes.writeUInt16LE(efiApplication, optionalAt + 68)
  bytes.writeUInt32LE(directoryCount, optionalAt + 108)
  bytes.write('.data', sectionAt, 'latin1')
  bytes.writeUInt32LE(sizeBytes - contentAt, sectionAt + 8)
  bytes.writeUInt32LE(contentAt, sectionAt + 12)
  bytes.writeUInt32LE(sizeBytes - contentAt, sectionAt + 16)
  bytes.writeUInt32LE(contentAt, sectionAt + 20)
  bytes.set(noise('loader', sizeBytes - contentAt), contentAt)
  bytes.write('\0made up by the pilotlight demo\0iPXE/%s\x000.0.0+demo\0http\0', contentAt, 'latin1')
  return { name: 'snponly.efi', bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
}
