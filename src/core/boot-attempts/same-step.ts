import type { BootEvent } from '../boot-event.ts'

type Dhcp = Extract<BootEvent, { type: 'dhcp-answered' | 'dhcp-unanswered' }>

/** Whether two events are one step that was repeated: the same packet sent again, the same file asked for again. */
export function isSameStep(a: BootEvent, b: BootEvent): boolean {
  switch (a.type) {
    case 'dhcp-answered':
      return (
        b.type === a.type &&
        isSameQuestion(a, b) &&
        a.message === b.message &&
        a.role === b.role &&
        a.target === b.target &&
        a.address === b.address &&
        a.decision === b.decision
      )
    case 'dhcp-unanswered':
      return (
        b.type === a.type &&
        a.reason === b.reason &&
        a.port === b.port &&
        a.chosen === b.chosen &&
        a.address === b.address &&
        isSameQuestion(a, b)
      )
    case 'decided':
      return b.type === a.type && !hasFiles(a) && a.kind === b.kind && isSameDecision(a, b)
    case 'artifact-sent':
      return (
        b.type === a.type &&
        a.bootId === b.bootId &&
        a.role === b.role &&
        a.name === b.name &&
        a.method === b.method &&
        a.status === b.status &&
        a.completed === b.completed &&
        a.fromBytes === b.fromBytes &&
        a.sentBytes === b.sentBytes
      )
    case 'entry-sent':
      return b.type === a.type && a.name === b.name && a.mac === b.mac
    case 'token-refused':
      return b.type === a.type && a.purpose === b.purpose && a.refusal === b.refusal
    case 'dhcp-troubled':
      return b.type === a.type && a.trouble === b.trouble
    case 'ignition-sent':
      return b.type === a.type && a.bootId === b.bootId && a.system === b.system
    case 'reported':
      return b.type === a.type && a.bootId === b.bootId && a.status === b.status
    case 'tftp-started':
      return b.type === a.type && a.file === b.file
    case 'tftp-ended':
      return b.type === a.type && a.file === b.file && a.isWhole === b.isWhole && a.sentBytes === b.sentBytes
    case 'tftp-refused':
      return b.type === a.type && a.file === b.file && a.reason === b.reason
    case 'diagnosed':
      return b.type === a.type && a.code === b.code
    case 'artifact-progress':
      return isSameTransfer(a, b)
  }
}

export function isSameTransfer(a: BootEvent, b: BootEvent): boolean {
  return (
    a.type === 'artifact-progress' &&
    b.type === 'artifact-progress' &&
    a.role === b.role &&
    a.bootId === b.bootId &&
    a.name === b.name
  )
}

function isSameQuestion(a: Dhcp, b: Dhcp): boolean {
  const one = a.asked
  const other = b.asked
  // The id first: it is what differs, where anything does.
  return (
    one?.xid === other?.xid &&
    a.mac === b.mac &&
    one?.message === other?.message &&
    one?.stage === other?.stage &&
    one?.via === other?.via &&
    one?.bootServerType === other?.bootServerType
  )
}

type Decided = Extract<BootEvent, { type: 'decided' }>

/** Each of these begins with its files anew, so that none is taken for another once something was fetched. */
function hasFiles({ kind }: Decided): boolean {
  return kind === 'live' || kind === 'install'
}

/**
 * A machine that was given the same script just before and fetched nothing of it since: one that asks without end costs
 * a counter, not a list.
 */
export function isAskedAgain(before: BootEvent | undefined, event: Decided): boolean {
  return (
    before?.type === 'decided' &&
    hasFiles(event) &&
    before.kind === event.kind &&
    before.bootimage === event.bootimage &&
    isSameDecision(before, event)
  )
}

function isSameDecision(a: Decided, b: Decided): boolean {
  return a.reason === b.reason && a.mac === b.mac && a.host === b.host && a.loader === b.loader
}
