import { Type } from 'typebox'
import { closed, list, oneOf, text } from './schema-parts.ts'

const extraOptionSchema = Type.Object(
  {
    code: Type.Integer({ minimum: 1, maximum: 254, description: 'Its number.' }),
    type: oneOf(
      ['text', 'addresses', 'byte', 'uint16', 'uint32', 'hex'],
      'How `value` is written on the wire.',
    ),
    value: text('line', 'What it says.'),
  },
  { ...closed, description: 'A DHCP option that the service does not set itself.' },
)

const subnetSchema = Type.Object(
  {
    subnet: text('ipv4-subnet', 'The subnet, directly attached or behind relays.'),
    ranges: list(text('ipv4-range', 'The first and the last address.'), 'Addresses to give out.', {
      default: [],
    }),
    leaseTime: text('duration', 'How long an address is given.', { default: '12h' }),
    routers: list(text('ipv4', 'An address.'), 'Routers.', { default: [] }),
    dns: list(text('ipv4', 'An address.'), 'Name servers; iPXE uses the first one only.', { default: [] }),
    ntp: list(text('ipv4', 'An address.'), 'Time servers.', { default: [] }),
    domain: Type.Optional(text('domain', 'The domain name.')),
    options: list(extraOptionSchema, 'Further options by number.', { default: [] }),
    allow: oneOf(
      ['any', 'known'],
      'any: everybody gets an address. known: only machines with a host record.',
      {
        default: 'any',
      },
    ),
  },
  { ...closed, description: 'A subnet whose addresses we give out.' },
)

/** `boot.dhcp`: absent is off. */
export const dhcpSchema = Type.Object(
  {
    mode: oneOf(
      ['off', 'proxy', 'server'],
      'proxy: beside the DHCP server of the site. server: instead of it.',
      { default: 'proxy' },
    ),
    interface: Type.Optional(text('interface', 'The network interface it answers on.')),
    interfaces: list(text('interface', 'One interface.'), 'Several interfaces it answers on.', {
      default: [],
    }),
    style: oneOf(
      ['direct', 'binl'],
      'How a proxy names the boot file. binl is for UEFI of 2014 to 2017 that drops direct offers.',
      { default: 'direct' },
    ),
    authoritative: Type.Boolean({
      default: false,
      description: 'No other DHCP server is on these subnets, so addresses that are not ours are refused.',
    }),
    subnets: list(subnetSchema, 'For mode server: the subnets that are ours.', { default: [] }),
  },
  { ...closed, description: 'DHCP. Absent: off.' },
)

/** `boot.tftp`: absent is off. */
export const tftpSchema = Type.Object(
  {
    listen: text('listen-address', 'Where loaders are fetched.', { default: '0.0.0.0:69' }),
    ports: text(
      'tftp-ports',
      'Where transfers come from: each has its own port, all share a few or the one that was asked, or a range.',
      {
        default: 'few',
      },
    ),
    maxBlockSize: Type.Optional(
      Type.Integer({
        minimum: 512,
        maximum: 65464,
        description: 'For paths that are narrower than the interface.',
      }),
    ),
  },
  { ...closed, description: 'TFTP. Absent: off.' },
)
