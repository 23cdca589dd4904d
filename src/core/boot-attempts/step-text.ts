import type { BootEvent, DhcpQuestion } from '../boot-event.ts'
import type { MacAddress } from '../mac.ts'
import { reasonText } from '../reason.ts'
import { visibleText } from '../visible-text.ts'
import { bytesText, durationText, partText } from './amounts.ts'

const longestStep = 300
const longestPart = 120

type Of<Type extends BootEvent['type']> = Extract<BootEvent, { type: Type }>

/**
 * An event as one plain sentence, at most 300 characters, without control characters. `bytesPerSecond`: of a transfer,
 * where it is known. `card`: named in front.
 */
export function stepText(
  event: BootEvent,
  { bytesPerSecond, card }: { readonly bytesPerSecond?: number; readonly card?: MacAddress } = {},
): string {
  const text = sentence(event, bytesPerSecond)
  return visibleText(card === undefined ? text : `${card}: ${text}`, longestStep - 1)
}

function sentence(event: BootEvent, bytesPerSecond: number | undefined): string {
  switch (event.type) {
    case 'dhcp-answered':
      return answeredText(event)
    case 'dhcp-unanswered':
      return unansweredText(event)
    case 'dhcp-troubled':
      return troubleTexts[event.trouble] + (event.detail === undefined ? '' : `: ${part(event.detail)}`)
    case 'entry-sent':
      return `${part(event.name)} sent, which asks who this machine is`
    case 'decided':
      return decidedText(event)
    case 'artifact-progress': {
      const rate = bytesPerSecond === undefined ? '' : `, ${bytesText(bytesPerSecond)}/s`
      return `${fileText(event)} ${partText(event.reachedBytes, event.totalBytes)}${rate}`
    }
    case 'artifact-sent':
      return sentText(event)
    case 'ignition-sent':
      return `Ignition config sent to the ${systemTexts[event.system]}`
    case 'token-refused':
      return `${event.purpose === 'ignition' ? 'Ignition config' : 'report'} refused: its token ${refusalTexts[event.refusal]}`
    case 'reported':
      return reportedText(event)
    case 'tftp-started':
      return `${part(event.file)} asked for by TFTP`
    case 'tftp-ended':
      return tftpText(event)
    case 'tftp-refused':
      return `${part(event.file)} refused by TFTP: ${part(event.reason)}`
    case 'diagnosed':
      return part(event.text, longestStep)
  }
}

function part(text: string, most = longestPart): string {
  return visibleText(text, most)
}

const firmwareTexts: Readonly<Record<string, string>> = {
  bios: 'BIOS ',
  uefi: 'UEFI ',
  'open-firmware': 'Open Firmware ',
}

function askerText(asked: DhcpQuestion | undefined): string {
  if (asked === undefined) return 'the machine'
  if (asked.stage === 'ipxe') return 'iPXE'
  if (asked.stage === 'other') return 'a loader'
  const kind = asked.firmware === undefined ? '' : (firmwareTexts[asked.firmware] ?? '')
  const arch = asked.arch === undefined ? '' : `${asked.arch} `
  return `${kind}${arch}firmware${asked.via === 'http' ? ' (HTTP Boot)' : ''}`
}

function answeredText(event: Of<'dhcp-answered'>): string {
  const { asked, role, message, address, target, decision } = event
  const what = asked?.message.toUpperCase() ?? (message === 'offer' ? 'DISCOVER' : 'REQUEST')
  const question = `${what}${role === 'boot-server' ? ' on port 4011' : ''} from ${askerText(asked)}`
  const gave = address === undefined ? [] : [part(address)]
  if (target !== undefined) gave.push(part(target))
  const verb = message === 'offer' ? 'offered' : role === 'boot-server' ? 'told' : 'acknowledged'
  if (gave.length > 0) return `${question}; ${verb} ${gave.join(' and ')}`
  return decision === 'local' ? `${question}; left to boot from its disk` : `${question}; ${verb}`
}

function unansweredText({ asked, chosen, address, reason, port }: Of<'dhcp-unanswered'>): string {
  const asks = `${asked.message.toUpperCase()}${port === 4011 ? ' on port 4011' : ''} from ${askerText(asked)}`
  if (chosen === undefined) return `${asks}; not answered: ${part(reason)}`
  return `${asks} takes ${address === undefined ? 'the address' : part(address)} of ${part(chosen)}`
}

const troubleTexts: Readonly<Record<Of<'dhcp-troubled'>['trouble'], string>> = {
  'offers-unanswered': 'It let a whole run of offers pass',
  'loop-suspected': 'It asks for the same stage in boot after boot',
  'client-contradicts-itself': 'Its options 60 and 93 contradict each other',
}

function decidedText({ kind, reasons, bootimage }: Of<'decided'>): string {
  const why = reasonText(reasons[0])
  // `<stream>/<arch>/<release>/<digest>`
  const [stream, , release] = bootimage?.split('/') ?? []
  const what = release === undefined ? '' : ` ${stream} ${release}`
  return part(`Told to ${decisionTexts[kind]}${what}: ${why}`, longestStep)
}

const decisionTexts: Readonly<Record<Of<'decided'>['kind'], string>> = {
  live: 'run',
  install: 'install',
  local: 'boot from its disk',
  wait: 'wait',
  hold: 'stop',
  chainload: 'fetch another loader',
  ignore: 'leave network boot',
}

function fileText({ role, name }: { readonly role: string; readonly name?: string }): string {
  const isNamedByRole = role === 'kernel' || role === 'initramfs' || role === 'rootfs'
  return isNamedByRole || name === undefined ? part(role) : part(name)
}

function sentText(event: Of<'artifact-sent'>): string {
  const { method, status, sentBytes, totalBytes, durationMs, completed } = event
  const file = fileText(event)
  if (status >= 400) return `${file} not sent: HTTP ${status}`
  if (method === 'HEAD')
    return `${file} looked at${totalBytes === undefined ? '' : `: ${bytesText(totalBytes)}`}`
  if (status === 304) return `${file} not sent: it has it`
  if (!completed) {
    const amount =
      totalBytes === undefined ? `after ${bytesText(sentBytes)}` : `at ${partText(sentBytes, totalBytes)}`
    return `${file} cut off ${amount}`
  }
  const part =
    status === 206 && totalBytes !== undefined && sentBytes < totalBytes ? ` of ${bytesText(totalBytes)}` : ''
  return `${file} sent, ${bytesText(sentBytes)}${part}${speedText(sentBytes, durationMs)}`
}

function speedText(bytes: number, durationMs: number | undefined): string {
  if (durationMs === undefined) return ''
  const rate = durationMs > 1000 ? `, ${bytesText((bytes * 1000) / durationMs)}/s` : ''
  return ` in ${durationText(durationMs)}${rate}`
}

function tftpText({
  file,
  isWhole,
  sentBytes,
  totalBytes,
  durationMs,
  clientError,
}: Of<'tftp-ended'>): string {
  if (isWhole) return `${part(file)} sent by TFTP, ${bytesText(sentBytes)}${speedText(sentBytes, durationMs)}`
  const amount =
    totalBytes === undefined ? `after ${bytesText(sentBytes)}` : `at ${partText(sentBytes, totalBytes)}`
  const words = clientError === undefined ? '' : `; the machine says: ${part(clientError)}`
  return `${part(file)} cut off by TFTP ${amount}${words}`
}

const systemTexts: Readonly<Record<Of<'ignition-sent'>['system'], string>> = {
  live: 'live system',
  installed: 'installed system',
  installer: 'installer',
}

const refusalTexts: Readonly<Record<Of<'token-refused'>['refusal'], string>> = {
  malformed: 'is none',
  forged: 'was not made here',
  'other-address': 'belongs to another address',
  expired: 'has expired',
  'other-purpose': 'is good for something else',
  revoked: 'was revoked by an admin',
  superseded: 'is of an older boot',
  'nothing-to-fetch': 'is good, but there is no config for it now',
}

function reportedText({ status, osVersion, message }: Of<'reported'>): string {
  const version = osVersion === undefined ? '' : ` ${part(osVersion)}`
  const words = message === undefined || message === '' ? '' : `: ${part(message, 200)}`
  return `Reports ${status}${version}${words}`
}
