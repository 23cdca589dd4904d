import { isIP } from 'node:net'
import { architectures, parseArch } from '../core/arch.ts'
import { parseSha256 } from '../core/digest.ts'
import { parseIpv4, parseIpv4Subnet } from '../core/ipv4.ts'
import { ignitionUrlProblem, operatorArgumentProblem } from '../core/kernel-argument-rules.ts'
import { parseMac } from '../core/mac.ts'
import { isPlaceholderSerial } from '../core/serial.ts'
import { parseUuid } from '../core/uuid.ts'
import { parseDuration } from './duration.ts'
import { parseBootAddress, parseListenAddress } from './listen-address.ts'
import { parseMemorySize } from './memory-size.ts'
import { parseIpv4Range, parseTftpPorts } from './port-and-address-ranges.ts'
import { parseUntil } from './until.ts'
import {
  baseUrlProblem,
  httpUrlProblem,
  originProblem,
  proxyUrlProblem,
  webhookUrlProblem,
} from './web-url.ts'

/** A kind of text that the schema names by `format`. */
export interface TextFormat {
  /** Ends the sentence "allowed: …". */
  readonly allowed: string
  /** Why the text is not of this kind, in brackets after what was found; empty when there is nothing to add. */
  readonly problem: (text: string) => string | undefined
}

const minuteMs = 60 * 1000
const dayMs = 24 * 60 * minuteMs
const leastCaptureBytes = 64 * 1024
const mostCaptureBytes = 1024 ** 3

export const formats = {
  arch: { allowed: architectures.join(', '), problem: readable(parseArch) },
  duration: {
    allowed: 'a time from 1s to 7d, such as 90s, 15m or 1h30m',
    problem: (text) => durationProblem(text, 1000, 7 * dayMs),
  },
  minutes: {
    allowed: 'whole minutes from 1m to 7d, such as 90m, 2h or 1d',
    problem: (text) => durationProblem(text, minuteMs, 7 * dayMs) ?? wholeMinutesProblem(text),
  },
  'long-duration': {
    allowed: 'a time from 1h to 3650d, such as 36h or 90d',
    problem: (text) => durationProblem(text, dayMs / 24, 3650 * dayMs),
  },
  'capture-memory': {
    allowed: 'a size from 64KiB to 1GiB, such as 512KiB or 8MiB',
    problem(text) {
      const bytes = parseMemorySize(text)
      return bytes === undefined || bytes < leastCaptureBytes || bytes > mostCaptureBytes ? '' : undefined
    },
  },
  'listen-address': {
    allowed: 'an address and port such as 0.0.0.0:80, [::]:80 or :8080',
    problem: readable(parseListenAddress),
  },
  'boot-address': {
    allowed:
      'an IP address or a host name, with a port if it differs, such as 192.0.2.10 or [2001:db8::1]:8080',
    problem: readable(parseBootAddress),
  },
  'http-url': { allowed: 'an http or https URL', problem: httpUrlProblem },
  'base-url': { allowed: 'an http or https URL of a directory', problem: baseUrlProblem },
  origin: { allowed: 'a scheme, host and port such as https://mirror.example:8443', problem: originProblem },
  'proxy-url': {
    allowed: 'an http or https URL such as http://proxy.example:3128',
    problem: proxyUrlProblem,
  },
  'webhook-url': {
    allowed: 'an http or https URL without user name and password, and not of a link-local address',
    problem: webhookUrlProblem,
  },
  until: {
    allowed: 'a date such as 2026-12-31, or a moment with its zone such as 2026-12-31T18:00:00Z',
    problem: readable(parseUntil),
  },
  mac: {
    allowed: 'a MAC address such as 52:54:00:ab:cd:ef',
    problem: (text) => (parseMac(text) === undefined ? macProblem(text) : undefined),
  },
  uuid: {
    allowed: 'a machine UUID such as 4c4c4544-0042-3510-8056-b4c04f4d3132',
    problem(text) {
      if (parseUuid(text) !== undefined) return undefined
      return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
        ? 'vendors put it into every machine'
        : ''
    },
  },
  sha256: { allowed: '64 hexadecimal digits', problem: readable(parseSha256) },
  release: {
    allowed: 'a release as the metadata spells it, such as 44.20260707.3.1',
    problem: matching(/^[0-9A-Za-z][0-9A-Za-z._+~-]{0,127}$/),
  },
  'kernel-argument': {
    allowed: 'one kernel argument without blanks',
    problem: operatorArgumentProblem,
  },
  'ignition-url': {
    allowed: 'an http or https URL (live systems also take tftp, s3 and gs)',
    problem: (text) => ignitionUrlProblem(text, 'live'),
  },
  device: {
    allowed: 'a disk such as /dev/sda or /dev/disk/by-id/wwn-0x5000c500a1b2c3d4',
    problem: matching(/^\/dev\/(?!.*\/\.{0,2}(?:\/|$))[A-Za-z0-9][A-Za-z0-9._:+@/-]{0,200}$/),
  },
  platform: { allowed: 'an Ignition platform such as metal', problem: matching(/^[a-z][a-z0-9]{0,31}$/) },
  name: {
    allowed: 'at most 63 letters, digits, ".", "_" and "-", beginning with a letter or digit',
    problem: matching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/),
  },
  'file-name': {
    allowed: 'a file name without a folder',
    problem: matching(/^[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}$/),
  },
  path: { allowed: 'a path', problem: matching(/^[^\p{Cc}]{1,4096}$/u) },
  line: {
    allowed: 'one line of at most 200 characters',
    problem: matching(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,200}$/u),
  },
  label: {
    allowed: 'at most 63 letters, digits, ".", "_", "/" and "-", beginning with a letter or digit',
    problem: matching(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/),
  },
  'config-map-stream': {
    allowed: 'a key of data.streams such as rhel-9',
    problem: matching(/^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,62})?$/),
  },
  serial: {
    allowed: 'the serial number of one machine, at most 128 characters',
    problem(text) {
      if (!/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,128}$/u.test(text) || text.trim() !== text) return ''
      if (text.includes('${')) return 'iPXE would fill something in'
      return isPlaceholderSerial(text) ? 'vendors put it into every machine' : undefined
    },
  },
  ipv4: { allowed: 'an IPv4 address such as 192.0.2.10', problem: readable(parseIpv4) },
  'ipv4-subnet': { allowed: 'a subnet such as 192.0.2.0/24', problem: readable(parseIpv4Subnet) },
  'ipv4-range': {
    allowed: 'two addresses, the lower one first, such as 192.0.2.100-192.0.2.199',
    problem: readable(parseIpv4Range),
  },
  domain: {
    allowed: 'a domain name such as rack.example',
    problem: matching(
      /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/,
    ),
  },
  'tftp-ports': {
    allowed: 'each, few, single, or a range of ports such as 30000-30100',
    problem: readable(parseTftpPorts),
  },
  'address-range': {
    allowed: 'an IP address or a network such as 10.0.0.0/8 or 2001:db8::/32',
    problem: addressRangeProblem,
  },
  interface: { allowed: 'a network interface such as eth1', problem: matching(/^[^\s/\p{Cc}]{1,15}$/u) },
  'environment-variable': {
    allowed: 'the name of an environment variable',
    problem: matching(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/),
  },
  'header-value': {
    allowed: 'a header value of printable ASCII characters',
    problem: matching(/^[\x21-\x7e](?:[\x20-\x7e]{0,8190}[\x21-\x7e])?$/),
  },
  'header-name': {
    allowed: 'the name of a request header that the service does not set itself',
    problem(text) {
      if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/.test(text)) return ''
      return ownHeaders.has(text.toLowerCase()) ? 'the service sets it itself' : undefined
    },
  },
  text: { allowed: 'text', problem: matching(/^[^\0]{1,262144}$/) },
} as const satisfies Record<string, TextFormat>

export type FormatName = keyof typeof formats

/** Written by the HTTP client, or dangerous to repeat (RFC 9110 §7.6.1, RFC 9112 §6). */
const ownHeaders: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'range',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
])

function readable(parse: (text: string) => unknown): (text: string) => string | undefined {
  return (text) => (parse(text) === undefined ? '' : undefined)
}

/** Bits below the prefix are more often a typo than a network; a network of everything would believe everybody. */
function addressRangeProblem(text: string): string | undefined {
  const [address = '', length, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0 || address.includes('%')) return ''
  if (length === undefined) return undefined
  const bits = version === 4 ? 32 : 128
  if (!/^\d{1,3}$/.test(length) || Number(length) > bits) return ''
  if (Number(length) === 0) return 'that is everybody'
  return version === 4 && parseIpv4Subnet(text) === undefined ? 'it has bits beyond its length' : undefined
}

function matching(pattern: RegExp): (text: string) => string | undefined {
  return (text) => (pattern.test(text) ? undefined : '')
}

function wholeMinutesProblem(text: string): string | undefined {
  return Number(parseDuration(text)) % minuteMs === 0 ? undefined : 'it is not in whole minutes'
}

function durationProblem(text: string, leastMs: number, mostMs: number): string | undefined {
  const duration = parseDuration(text)
  if (duration === undefined) return ''
  if (duration < leastMs) return 'it is too short'
  return duration > mostMs ? 'it is too long' : undefined
}

/** `2:4:0:b:d:f` is more often a typo than an address; multicast and zero name no machine (field case 148). */
function macProblem(text: string): string {
  if (/^(?:[0-9a-f]{1,2}[:-]){5}[0-9a-f]{1,2}$/i.test(text)) {
    if (/(?:^|[:-])[0-9a-f](?:[:-]|$)/i.test(text)) return 'each part needs two digits'
  }
  const digits = text.replace(/[:.-]/g, '')
  return /^[0-9a-f]{12}$/i.test(digits) && parseMac(digits) === undefined
    ? 'multicast and all-zero addresses name no machine'
    : ''
}
