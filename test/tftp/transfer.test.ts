import { describe, expect, it } from 'vitest'
import {
  advanceTransfer,
  openTransfer,
  type TransferAction,
  type TransferEvent,
  type TransferPlan,
  type TransferState,
  type TransferStep,
} from '../../src/tftp/transfer.ts'

/** Short words for what is sent: `oack`, `1-4`, `7`, or the end with its outcome. */
function spell(action: TransferAction): string {
  switch (action.type) {
    case 'send-oack':
      return 'oack'
    case 'send-blocks':
      return action.count === 1 ? `${action.first}` : `${action.first}-${action.first + action.count - 1}`
    case 'end':
      return action.error === undefined ? action.outcome : `${action.outcome}, error ${action.error.code}`
    default:
      return '-'
  }
}

const timeout: TransferEvent = { type: 'timeout' }
const clientError = (code: number): TransferEvent => ({ type: 'error', code, message: '' })

/** A transfer under test: each event happens `stepMs` after the one before, a timeout when its wait is over. */
function play(plan: Partial<TransferPlan>, stepMs = 1) {
  const full: TransferPlan = { blockCount: 10, windowSize: 1, hasOack: false, wrap: 0, ...plan }
  let now = 1_000
  let last: TransferStep = openTransfer(full, now)
  let waitMs = last.waitMs ?? Number.NaN
  return {
    first: spell(last.action),
    get state(): TransferState {
      return last.state
    },
    get waitMs() {
      return waitMs
    },
    get elapsedMs() {
      return now - 1_000
    },
    on(event: TransferEvent): string {
      now += event.type === 'timeout' ? waitMs : stepMs
      last = advanceTransfer(full, last.state, event, now)
      waitMs = last.waitMs ?? waitMs
      return spell(last.action)
    },
    ack(block: number): string {
      return this.on({ type: 'ack', block })
    },
  }
}

describe('a transfer in lock-step', () => {
  it('without options begins with block 1 and ends with the last acknowledgement', () => {
    const transfer = play({ blockCount: 3 })
    expect(transfer.first).toBe('1')
    expect([1, 2, 3].map((block) => transfer.ack(block))).toEqual(['2', '3', 'served'])
  })

  it('with options begins with the OACK, whose acknowledgement is 0', () => {
    const transfer = play({ blockCount: 2, hasOack: true })
    expect(transfer.first).toBe('oack')
    expect([0, 1, 2].map((block) => transfer.ack(block))).toEqual(['1', '2', 'served'])
  })

  it('an acknowledgement of something else than the OACK opens nothing', () => {
    const transfer = play({ hasOack: true })
    expect([1, 65535, 7].map((block) => transfer.ack(block))).toEqual(['-', '-', '-'])
    expect(transfer.ack(0)).toBe('1')
  })

  it('acknowledgements of the future and of the past mean nothing', () => {
    const transfer = play({})
    transfer.ack(1)
    transfer.ack(2)
    expect([4, 9, 1, 0, 65535].map((block) => transfer.ack(block))).toEqual(['-', '-', '-', '-', '-'])
    expect(transfer.ack(3)).toBe('4')
  })

  it('a file of one block is served by one acknowledgement', () => {
    expect(play({ blockCount: 1 }).ack(1)).toBe('served')
  })
})

describe("the sorcerer's apprentice (case 69)", () => {
  it.each([1, 4])(
    'every acknowledgement doubled, window %i: each of 100 blocks is sent once',
    (windowSize) => {
      const transfer = play({ blockCount: 100, windowSize, hasOack: windowSize > 1 })
      const sent = [transfer.first, ...(windowSize > 1 ? [transfer.ack(0), transfer.ack(0)] : [])]
      for (let block = windowSize; block <= 100; block += windowSize)
        sent.push(transfer.ack(block), transfer.ack(block))
      const blocks = sent.filter((word) => /^\d/.test(word)).map((word) => word.split('-').map(Number))
      const total = blocks.reduce((sum, [first = 0, last = first]) => sum + last - first + 1, 0)
      expect(total).toBe(100)
      expect(transfer.state.repeatedBlocks).toBe(0)
      expect(transfer.state.phase).toBe('ended')
    },
  )

  it('what is lost is sent again by the timer alone, the same block', () => {
    const transfer = play({})
    transfer.ack(1)
    expect(transfer.on(timeout)).toBe('2')
    expect(transfer.ack(1)).toBe('-')
    expect(transfer.on(timeout)).toBe('2')
    expect(transfer.ack(2)).toBe('3')
    expect(transfer.state.repeatedBlocks).toBe(2)
  })

  it('gives up with ERROR 0 after twelve repetitions, about half a minute', () => {
    const transfer = play({})
    transfer.ack(1)
    const sent = Array.from({ length: 13 }, () => transfer.on(timeout))
    expect(sent).toEqual([...Array(12).fill('2'), 'stalled, error 0'])
    expect(transfer.elapsedMs).toBeGreaterThan(30_000)
    expect(transfer.elapsedMs).toBeLessThan(50_000)
  })

  it('a heard client starts the counting anew', () => {
    const transfer = play({})
    transfer.ack(1)
    for (let at = 0; at < 11; at += 1) transfer.on(timeout)
    transfer.ack(2)
    for (let at = 0; at < 12; at += 1) expect(transfer.on(timeout)).toBe('3')
  })

  it('after the end nothing is sent, whatever comes', () => {
    const transfer = play({ blockCount: 1 })
    transfer.ack(1)
    const events: TransferEvent[] = [
      { type: 'ack', block: 1 },
      timeout,
      { type: 'request-repeated' },
      clientError(0),
      { type: 'unexpected' },
      { type: 'port-closed' },
      { type: 'read-failed' },
      { type: 'cancelled', tellsClient: true },
    ]
    expect(events.map((event) => transfer.on(event))).toEqual(events.map(() => '-'))
  })
})

describe('windows (case 72)', () => {
  it('four blocks for each acknowledgement, fewer at the end', () => {
    const transfer = play({ blockCount: 10, windowSize: 4, hasOack: true })
    expect([0, 4, 8, 10].map((block) => transfer.ack(block))).toEqual(['1-4', '5-8', '9-10', 'served'])
  })

  it('an acknowledgement within the window goes on there at once', () => {
    const transfer = play({ windowSize: 4, hasOack: true })
    transfer.ack(0)
    expect(transfer.ack(2)).toBe('3-6')
    expect(transfer.ack(2)).toBe('-')
    expect(transfer.ack(6)).toBe('7-10')
    expect(transfer.state.repeatedBlocks).toBe(2)
  })

  it('an acknowledgement of a block that went out twice only lets what is new follow', () => {
    const transfer = play({ blockCount: 40, windowSize: 4, hasOack: true })
    transfer.ack(0)
    expect(transfer.ack(1)).toBe('2-5')
    // Blocks 2 to 4 had arrived after all, and their second copies are answered with what the client has.
    expect(transfer.ack(4)).toBe('6-8')
    expect(transfer.ack(4)).toBe('-')
    expect(transfer.ack(8)).toBe('9-12')
    expect(transfer.state.repeatedBlocks).toBe(3)
  })

  it('where nothing new fits, such an acknowledgement is only noted', () => {
    const transfer = play({ blockCount: 5, windowSize: 4, hasOack: true })
    transfer.ack(0)
    expect(transfer.ack(2)).toBe('3-5')
    expect(transfer.ack(4)).toBe('-')
    expect(transfer.on(timeout)).toBe('5')
    expect(transfer.ack(5)).toBe('served')
  })

  it('after a timeout nothing is believed to be on its way', () => {
    const transfer = play({ windowSize: 4, hasOack: true })
    transfer.ack(0)
    expect(transfer.on(timeout)).toBe('1-4')
    expect(transfer.ack(2)).toBe('3-6')
  })

  it('the first block of the window lost: the timer sends the window again', () => {
    const transfer = play({ windowSize: 4, hasOack: true })
    transfer.ack(0)
    transfer.ack(4)
    expect(transfer.ack(4)).toBe('-')
    expect(transfer.on(timeout)).toBe('5-8')
  })

  it('a window longer than the file', () => {
    const transfer = play({ blockCount: 3, windowSize: 64, hasOack: true })
    expect([0, 3].map((block) => transfer.ack(block))).toEqual(['1-3', 'served'])
  })
})

describe('block numbers wrap (case 67)', () => {
  it('in lock-step to 0, and 0 is not taken for the acknowledgement of the OACK', () => {
    const transfer = play({ blockCount: 65_540, hasOack: true })
    transfer.ack(0)
    for (let block = 1; block <= 65_535; block += 1) {
      transfer.ack(block)
      if (block % 10_000 === 0) expect(transfer.ack(0)).toBe('-')
    }
    expect(transfer.ack(0)).toBe('65537')
    expect(transfer.ack(0)).toBe('-')
    expect([1, 2, 3, 4].map((block) => transfer.ack(block))).toEqual(['65538', '65539', '65540', 'served'])
  })

  it('from 32767 to 32768', () => {
    const transfer = play({ blockCount: 40_000 })
    for (let block = 1; block < 32_767; block += 1) transfer.ack(block)
    expect([32_767, 32_768].map((block) => transfer.ack(block))).toEqual(['32768', '32769'])
  })

  it('to 1 where the operator wants it', () => {
    const transfer = play({ blockCount: 65_540, wrap: 1 })
    for (let block = 1; block < 65_535; block += 1) transfer.ack(block)
    expect([65_535, 1, 2].map((block) => transfer.ack(block))).toEqual(['65536', '65537', '65538'])
  })

  it('within a window of sixteen, whole and interrupted', () => {
    const transfer = play({ blockCount: 70_000, windowSize: 16, hasOack: true })
    transfer.ack(0)
    for (let block = 16; block < 65_536; block += 16) transfer.ack(block)
    expect(transfer.state.acknowledged).toBe(65_520)
    expect(transfer.ack(65_530)).toBe('65531-65546')
    expect(transfer.ack(5)).toBe('65542-65557')
    expect(transfer.ack(21)).toBe('65558-65573')
    transfer.on(timeout)
    expect(transfer.ack(22)).toBe('65559-65574')
  })
})

describe('somebody who asks and is never heard again', () => {
  it('gets five small OACKs and an ERROR within ten seconds', () => {
    const transfer = play({ hasOack: true })
    const sent = [transfer.first, ...Array.from({ length: 5 }, () => transfer.on(timeout))]
    expect(sent).toEqual(['oack', 'oack', 'oack', 'oack', 'oack', 'unanswered, error 0'])
    expect(transfer.elapsedMs).toBe(10_000)
  })

  it('gets three blocks of 512 bytes and an ERROR', () => {
    const transfer = play({})
    const sent = [transfer.first, ...Array.from({ length: 3 }, () => transfer.on(timeout))]
    expect(sent).toEqual(['1', '1', '1', 'unanswered, error 0'])
    expect(transfer.elapsedMs).toBe(10_000)
  })

  it('a timer that fires early does not end it early', () => {
    const plan: TransferPlan = { blockCount: 10, windowSize: 1, hasOack: true, wrap: 0 }
    let { state } = openTransfer(plan, 0)
    for (const at of [100, 300, 700, 1500]) state = advanceTransfer(plan, state, timeout, at).state
    const early = advanceTransfer(plan, state, timeout, 9_999)
    expect(early).toMatchObject({ action: { type: 'wait' }, waitMs: 1 })
    expect(spell(advanceTransfer(plan, early.state, timeout, 10_000).action)).toBe('unanswered, error 0')
  })

  it.each([
    [1_000, 6],
    [4_000, 4],
    [255_000, 2],
  ])('who asked for a timeout of %i ms gets %i packets, and no longer either', (clientTimeoutMs, packets) => {
    const transfer = play({ hasOack: true, clientTimeoutMs })
    let sent = 1
    for (let word = ''; transfer.state.phase !== 'ended'; ) {
      word = transfer.on(timeout)
      if (word !== '-') sent += 1
    }
    expect(sent).toBe(packets)
    expect(transfer.elapsedMs).toBe(10_000)
  })

  it('repeated requests get the first answer each, and do not prolong it', () => {
    const transfer = play({ hasOack: true }, 3_000)
    const again: TransferEvent = { type: 'request-repeated' }
    expect([again, again, again].map((event) => transfer.on(event))).toEqual(['oack', 'oack', 'oack'])
    expect(transfer.waitMs).toBeLessThanOrEqual(1_000)
  })
})

describe('one request, one transfer (case 70)', () => {
  const again: TransferEvent = { type: 'request-repeated' }

  it('a repeated request gets the first answer again while the client may not have had it', () => {
    expect(play({ hasOack: true }).on(again)).toBe('oack')
    expect(play({}).on(again)).toBe('1')
  })

  it('and nothing once the client has answered', () => {
    const transfer = play({ hasOack: true })
    transfer.ack(0)
    expect(transfer.on(again)).toBe('-')
  })
})

describe('how a transfer ends', () => {
  it.each([
    ['a look at the size, EDK2', true, clientError(8)],
    ['a look at the size, PXELINUX', true, clientError(0)],
    ['without options', false, clientError(0)],
  ])('%s: an ERROR gets no answer (case 60)', (_, hasOack, event) => {
    expect(play({ hasOack }).on(event)).toBe('aborted')
  })

  it('in the middle, too', () => {
    const transfer = play({})
    transfer.ack(1)
    expect(transfer.on(clientError(3))).toBe('aborted')
  })

  it('a closed port ends it: after the last block as served, before as aborted', () => {
    const closed: TransferEvent = { type: 'port-closed' }
    expect(play({}).on(closed)).toBe('aborted')
    const midway = play({})
    midway.ack(1)
    expect(midway.on(closed)).toBe('aborted')
    const last = play({ blockCount: 2 })
    last.ack(1)
    expect(last.on(closed)).toBe('served-unconfirmed')
  })

  it('a last acknowledgement that never comes is no failure', () => {
    const transfer = play({ blockCount: 2 })
    transfer.ack(1)
    const sent = Array.from({ length: 7 }, () => transfer.on(timeout))
    expect(sent).toEqual([...Array(6).fill('2'), 'served-unconfirmed, error 0'])
    expect(transfer.elapsedMs).toBeLessThan(13_000)
  })

  it('a client that sends DATA is told that it is wrong here', () => {
    expect(play({}).on({ type: 'unexpected' })).toBe('client-confused, error 4')
  })

  it('a file that cannot be read ends it with ERROR 0', () => {
    expect(play({}).on({ type: 'read-failed' })).toBe('read-failed, error 0')
  })

  it('this side ends it with or without a word', () => {
    expect(play({}).on({ type: 'cancelled', tellsClient: true })).toBe('cancelled, error 0')
    expect(play({}).on({ type: 'cancelled', tellsClient: false })).toBe('cancelled')
  })
})

describe('patience', () => {
  it('waits 100 ms at first and doubles after each loss', () => {
    const transfer = play({})
    transfer.ack(1)
    const waits = Array.from({ length: 7 }, () => {
      transfer.on(timeout)
      return transfer.waitMs
    })
    expect(waits).toEqual([200, 400, 800, 1600, 3200, 5000, 5000])
  })

  it('a round trip after a repetition is not measured, for it may belong to either (Karn)', () => {
    const transfer = play({}, 300)
    transfer.ack(1)
    const measured = transfer.waitMs
    transfer.on(timeout)
    transfer.ack(2)
    expect(transfer.waitMs).toBe(measured * 2)
    transfer.ack(3)
    expect(transfer.waitMs).toBeLessThan(measured * 2)
  })

  it('a path with a round trip of 400 ms is not flooded', () => {
    const transfer = play({ hasOack: true, windowSize: 8 }, 400)
    transfer.ack(0)
    expect(transfer.waitMs).toBe(1200)
  })

  it.each([
    [1_000, 30],
    [5_000, 6],
    [60_000, 5],
  ])("the client's timeout of %i ms is kept to, %i times", (clientTimeoutMs, repetitions) => {
    const transfer = play({ hasOack: true, clientTimeoutMs })
    transfer.ack(0)
    const sent = []
    while (transfer.state.phase !== 'ended') {
      expect(transfer.waitMs).toBe(clientTimeoutMs)
      sent.push(transfer.on(timeout))
    }
    expect(sent).toEqual([...Array(repetitions).fill('1'), 'stalled, error 0'])
  })
})
