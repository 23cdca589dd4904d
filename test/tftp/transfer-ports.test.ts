import { describe, expect, it } from 'vitest'
import { createEphemeralPorts, createPortRange } from '../../src/tftp/transfer-ports.ts'

describe('local ports (case 77)', () => {
  it('a range gives each of its ports once', () => {
    const ports = createPortRange(30000, 30010)
    const taken = Array.from({ length: 12 }, () => ports.take())
    expect(taken).toEqual([...Array.from({ length: 11 }, (_, at) => 30000 + at), undefined])
  })

  it('a port that comes back waits for its turn, so that late packets meet nobody', () => {
    const ports = createPortRange(30000, 30002)
    expect(ports.take()).toBe(30000)
    ports.release(30000)
    expect([ports.take(), ports.take(), ports.take(), ports.take()]).toEqual([30001, 30002, 30000, undefined])
  })

  it('without a range the system chooses', () => {
    expect(createEphemeralPorts().take()).toBe(0)
  })
})
