import { describe, expect, it } from 'vitest'
import { backedOff, createRetransmitTimer, withRoundTrip } from '../../src/tftp/retransmit-timer.ts'

describe('the retransmission timer', () => {
  it('starts at 100 ms and never goes below', () => {
    const timer = createRetransmitTimer()
    expect(timer.timeoutMs).toBe(100)
    expect(withRoundTrip(withRoundTrip(timer, 0.2), 0.3).timeoutMs).toBe(100)
  })

  it('learns a slow path within one round trip', () => {
    expect(withRoundTrip(createRetransmitTimer(), 200).timeoutMs).toBe(600)
  })

  it('settles near the round trip of a steady path', () => {
    let timer = createRetransmitTimer()
    for (let at = 0; at < 50; at += 1) timer = withRoundTrip(timer, 200)
    expect(timer.timeoutMs).toBeGreaterThan(200)
    expect(timer.timeoutMs).toBeLessThan(210)
  })

  it('doubles up to five seconds, and forgets that with the next measurement', () => {
    let timer = createRetransmitTimer()
    const waits = Array.from({ length: 8 }, () => {
      timer = backedOff(timer)
      return timer.timeoutMs
    })
    expect(waits).toEqual([200, 400, 800, 1600, 3200, 5000, 5000, 5000])
    expect(withRoundTrip(timer, 1).timeoutMs).toBe(100)
  })

  it("the client's own interval is neither doubled nor measured", () => {
    const timer = createRetransmitTimer(3000)
    expect(backedOff(timer).timeoutMs).toBe(3000)
    expect(withRoundTrip(timer, 1).timeoutMs).toBe(3000)
  })
})
