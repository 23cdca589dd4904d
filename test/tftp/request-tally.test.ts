import { expect, it } from 'vitest'
import type { TftpPath } from '../../src/tftp/file-name.ts'
import { createRequestTally } from '../../src/tftp/request-tally.ts'
import { classifyName } from '../../src/tftp/tftp-name.ts'

const base = { at: 0, client: { address: '192.0.2.55', port: 1025, localAddress: '192.0.2.10' } }
const name = classifyName('ipxe.efi' as TftpPath)
const figures = {
  sizeBytes: 1000,
  deliveredBytes: 1000,
  blockSize: 512,
  windowSize: 1,
  repeatedBlocks: 2,
  durationMs: 5,
}

it('requests are counted once, by how they end, with bytes and repeated blocks', () => {
  const tally = createRequestTally()
  tally.note({ ...base, type: 'requested', name, isSizeAsked: true })
  tally.note({ ...base, type: 'ended', name, isSizeAsked: true, outcome: 'served', figures })
  tally.note({ ...base, type: 'refused', reason: 'not-served', code: 1, message: '', displayName: 'x' })
  tally.note({ ...base, type: 'ignored', reason: 'limit-total' })
  tally.note({ ...base, type: 'ignored', reason: 'stray-packet' })
  tally.note({ ...base, type: 'segmentation-failed', cause: 'EIO' })
  const { requests, ...rest } = tally.counts()
  expect(Object.entries(requests).filter(([, count]) => count > 0)).toEqual([
    ['served', 1],
    ['not-served', 1],
    ['limit-total', 1],
  ])
  expect(rest).toEqual({ sentBytes: 1000, retransmits: 2, strayPackets: 1 })
})
