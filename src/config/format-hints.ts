import { architectures } from '../core/arch.ts'
import { formatIpv4Subnet, parseIpv4, prefixOfNetmask, subnetOf } from '../core/ipv4.ts'
import { nearestWord } from '../core/nearest-word.ts'
import { type FormatName, formats } from './formats.ts'

/** One good text of each format, for the example lines of error messages. */
export const formatExamples: Readonly<Record<FormatName, string>> = {
  arch: 'x86_64',
  duration: '15m',
  minutes: '2h',
  'long-duration': '90d',
  'capture-memory': '8MiB',
  'listen-address': '0.0.0.0:80',
  'boot-address': '192.0.2.10',
  'http-url': 'https://builds.coreos.fedoraproject.org/streams/stable.json',
  'base-url': 'http://mirror.example/fcos/',
  origin: 'https://mirror.example:8443',
  'proxy-url': 'http://proxy.example:3128',
  'webhook-url': 'https://receiver.example/hook',
  until: '2026-12-31',
  mac: '52:54:00:ab:cd:ef',
  uuid: '4c4c4544-0042-3510-8056-b4c04f4d3132',
  sha256: '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
  release: '44.20260707.3.1',
  'kernel-argument': 'console=tty0',
  'ignition-url': 'http://192.0.2.20/worker.ign',
  device: '/dev/sda',
  platform: 'metal',
  name: 'worker',
  'file-name': 'snponly.efi',
  path: 'hosts.d',
  line: 'edge',
  label: 'site',
  'config-map-stream': 'rhel-9',
  serial: 'ABC1234',
  ipv4: '192.0.2.1',
  'ipv4-subnet': '192.0.2.0/24',
  'ipv4-range': '192.0.2.100-192.0.2.199',
  domain: 'rack.example',
  'tftp-ports': 'few',
  'address-range': '10.0.0.0/8',
  interface: 'eth1',
  'environment-variable': 'TOKEN',
  'header-value': 'text/plain',
  'header-name': 'Authorization',
  text: 'text',
}

/** What people write instead, turned into what the format wants; a guess, so it is checked before it is said. */
const slips: Readonly<Partial<Record<FormatName, (text: string) => string | undefined>>> = {
  arch: (text) => nearestWord(text, [...architectures, 'amd64', 'arm64']),
  duration: durationSlip,
  minutes: (text) => durationSlip(/^\d+$/.test(text) ? `${text}m` : text),
  'long-duration': (text) => durationSlip(/^\d+$/.test(text) ? `${text}d` : text),
  'capture-memory': memorySlip,
  'listen-address': (text) => (/^\d+$/.test(text) ? `:${text}` : withoutScheme(text).replace(/^\*:/, ':')),
  'boot-address': withoutScheme,
  'http-url': (text) => withScheme(text, 'https'),
  'base-url': (text) => withScheme(text, 'https'),
  'ignition-url': (text) => withScheme(text, 'https'),
  'proxy-url': (text) => originSlip(text, 'http'),
  'webhook-url': (text) => withScheme(text, 'https'),
  origin: (text) => originSlip(text, 'https'),
  until: (text) => text.replaceAll('/', '-').replace(/^(\S+) (\d{2}:\d{2})$/, '$1T$2Z'),
  sha256: (text) => text.replace(/^sha256[:-]/i, ''),
  device: (text) => `/dev/${text}`,
  name: (text) => text.trim().replaceAll(/[^A-Za-z0-9._-]+/g, '-'),
  'file-name': (text) => text.split('/').at(-1),
  ipv4: (text) => text.split('/', 1)[0],
  'ipv4-subnet': subnetSlip,
  'ipv4-range': rangeSlip,
  'tftp-ports': (text) => nearestWord(text, ['each', 'few', 'single']) ?? text.replace(/\s*[:–]\s*/, '-'),
}

/** `did you mean "15m"?`, where a text is nearly of its format. */
export function formatHint(format: FormatName, text: string): string | undefined {
  const meant = slips[format]?.(text)
  if (meant === undefined || meant === text || formats[format].problem(meant) !== undefined) return undefined
  return `did you mean ${JSON.stringify(meant)}?`
}

/** A number alone has no unit: up to an hour people mean minutes, beyond it seconds. */
function durationSlip(text: string): string | undefined {
  const match = /^(\d{1,9})\s*([a-z]*)$/i.exec(text.trim())
  const [, digits, word = ''] = match ?? []
  if (digits === undefined) return undefined
  if (word === '') return `${digits}${Number(digits) <= 60 ? 'm' : 's'}`
  return `${digits}${word[0]?.toLowerCase()}`
}

function withoutScheme(text: string): string {
  return text.replace(/^[a-z]+:\/\//i, '').replace(/\/$/, '')
}

/** `builds.example/x.json`, `htps://…`, `http:/…`. */
function withScheme(text: string, usual: string): string {
  const [, scheme, rest] = /^([a-z]{3,6}):?\/{1,2}(.+)$/i.exec(text) ?? []
  if (rest !== undefined && scheme !== undefined)
    return `${nearestWord(scheme, ['http', 'https']) ?? scheme}://${rest}`
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?(?:\/|$)/i.test(text) ? `${usual}://${text}` : text
}

function originSlip(text: string, usual: string): string | undefined {
  const url = withScheme(text, usual)
  return URL.canParse(url) ? new URL(url).origin : undefined
}

/** `192.0.2.5/24` and `192.0.2.0/255.255.255.0`. */
function subnetSlip(text: string): string | undefined {
  const [address = '', length = ''] = text.trim().split('/')
  const network = parseIpv4(address)
  const mask = parseIpv4(length)
  const prefix = mask === undefined ? Number(length || Number.NaN) : prefixOfNetmask(mask)
  if (network === undefined || prefix === undefined || !(prefix >= 0 && prefix <= 32)) return undefined
  return formatIpv4Subnet(subnetOf(network, prefix))
}

/** `192.0.2.100-199`, `192.0.2.100..192.0.2.199`, and the higher address first. */
function rangeSlip(text: string): string | undefined {
  const [from = '', end = ''] = text.split(/\s*(?:-|–|\.\.|\bto\b)\s*/)
  const to = /^\d{1,3}$/.test(end) ? from.replace(/\d+$/, end) : end
  const [first, last] = [parseIpv4(from), parseIpv4(to)]
  if (first === undefined || last === undefined) return undefined
  return first <= last ? `${from}-${to}` : `${to}-${from}`
}

/** `8M`, `8 MB`, `8mib`: the unit as we spell it. */
function memorySlip(text: string): string | undefined {
  const [, count, unit = ''] = /^(\d+)\s*([kmg])(?:i?b)?$/i.exec(text) ?? []
  return count === undefined ? undefined : `${count}${unit.toUpperCase()}iB`
}
