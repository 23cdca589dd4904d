import { type Static, Type } from 'typebox'
import { bootModes, localBootMethods } from '../core/host.ts'
import { closed, list, namedBy, oneOf, text } from './schema-parts.ts'

/** What a host, a group and a profile may each say of a machine. */
export const bootSettingProperties = {
  stream: Type.Optional(text('name', 'The stream it follows.')),
  mode: Type.Optional(
    oneOf(
      bootModes,
      'live: run from RAM. install: write to disk, once. local: boot from its own disk. hold: refuse and say why.',
    ),
  ),
  pin: Type.Optional(
    Type.Object(
      {
        release: Type.Optional(text('release', 'The release that is booted instead of the current one.')),
        releases: Type.Optional(
          namedBy('arch', text('release', 'The release for it.'), 'One release for each architecture.', {
            minProperties: 1,
          }),
        ),
        stream: Type.Optional(text('name', 'The stream of that release. Default: the one that it follows.')),
        reason: Type.Optional(text('line', 'Why; shown wherever the pin is.')),
        until: Type.Optional(text('until', 'When the pin ends. A date counts to its end, in UTC.')),
      },
      { ...closed, exactlyOne: ['release', 'releases'], description: 'This release, or nothing.' },
    ),
  ),
  kernelArguments: Type.Optional(
    list(
      text('kernel-argument', 'One argument.'),
      'Added at the end of the kernel command line, in this order.',
    ),
  ),
  ignition: Type.Optional(
    Type.Object(
      {
        url: Type.Optional(text('ignition-url', 'The machine fetches its config there.')),
        file: Type.Optional(
          text('path', 'A config beside this file. The machine gets it from us, with a token of its boot.'),
        ),
        inline: Type.Optional(
          text('text', 'The config itself, which it gets in the same way.', { secret: true }),
        ),
        template: Type.Optional(
          Type.Boolean({
            description: 'Whether {{ variables }} are filled into a file or text. Default: true.',
          }),
        ),
      },
      { ...closed, exactlyOne: ['url', 'file', 'inline'], description: 'The Ignition config.' },
    ),
  ),
  report: Type.Optional(
    Type.Boolean({
      description:
        'Whether the machine reports booted, installed or failed: a unit is put around its Ignition config. Default: where the config is a file or inline. A system that installs reports unless this is false.',
    }),
  ),
  install: Type.Optional(
    Type.Object(
      {
        device: Type.Optional(text('device', 'The disk that mode install writes to.')),
        generation: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 1_000_000_000,
            description: 'A machine is installed once for each number.',
          }),
        ),
      },
      { ...closed, description: 'For mode install.' },
    ),
  ),
  localBoot: Type.Optional(
    oneOf(
      localBootMethods,
      'How it leaves network boot; firmware differs. Default: sanboot on BIOS, exit 1 on UEFI.',
    ),
  ),
  holdReason: Type.Optional(text('line', 'Why mode hold is there; shown on the console of the machine.')),
  platformId: Type.Optional(text('platform', 'The Ignition platform. Default: metal.')),
  rootfs: Type.Optional(
    oneOf(
      ['url', 'initrd'],
      'url: the live system fetches it (default). initrd: the loader does, at twice the memory.',
    ),
  ),
  extraInitrds: Type.Optional(
    list(
      Type.Object(
        {
          path: text('path', 'The file on this server.'),
          sha256: text('sha256', 'Its digest; another content is not served.'),
        },
        { ...closed, description: 'One cpio archive.' },
      ),
      'Archives of your own, such as `coreos-installer pxe ignition wrap` makes.',
    ),
  ),
  loader: Type.Optional(text('file-name', 'The loader binary for this machine, by its file name.')),
  secureBoot: Type.Optional(
    Type.Boolean({
      description:
        'Start with the signed shim of `loaderSet` of its stream. Firmware does not tell that Secure Boot is on.',
    }),
  ),
  dhcpStyle: Type.Optional(oneOf(['direct', 'binl'], 'How a proxy names the boot file for it.')),
}

const labels = (description: string, extra: { readonly minProperties?: number } = {}) =>
  namedBy('label', text('line', 'Its value.'), description, extra)

export const profileSchema = Type.Object(bootSettingProperties, {
  ...closed,
  description: 'What a machine gets.',
})

export const groupSchema = Type.Object(
  {
    match: Type.Object(
      { labels: labels('Labels that a host must all have.', { minProperties: 1 }) },
      { ...closed, description: 'Which hosts belong to it.' },
    ),
    profile: Type.Optional(text('name', 'The profile of these hosts.')),
    ...bootSettingProperties,
  },
  { ...closed, description: 'Settings for every host that its labels select.' },
)

const hostProperties = {
  macs: Type.Optional(list(text('mac', 'One address.'), 'The MAC addresses of its network cards.')),
  uuid: Type.Optional(text('uuid', 'Its SMBIOS UUID; either byte order matches.')),
  serial: Type.Optional(text('serial', 'Its serial number.')),
  arch: Type.Optional(text('arch', 'Its architecture; stands above what the machine says itself.')),
  address: Type.Optional(text('ipv4', 'The address reserved for it where we are the DHCP server.')),
  hostName: Type.Optional(text('domain', 'The name it is told by DHCP.')),
  labels: Type.Optional(labels('What groups select it by.')),
  profile: Type.Optional(text('name', 'Its profile.')),
  ...bootSettingProperties,
}

const oneMachine = {
  ...closed,
  atLeastOne: ['macs', 'uuid', 'serial'],
  description: 'One machine.',
}

export const hostSchema = Type.Object(
  {
    id: text('name', 'What pins and history refer to. Keep it when the machine is renamed.'),
    ...hostProperties,
  },
  oneMachine,
)

/** A host of the API, whose id is not part of what it says. */
export const hostRecordSchema = Type.Object(hostProperties, oneMachine)

export const hostsFileSchema = Type.Object(
  {
    version: Type.Literal(1, { description: 'The version of this format.' }),
    hosts: list(hostSchema, 'The machines.'),
  },
  { ...closed, description: 'A file of the hosts directory.' },
)

export type RawPin = NonNullable<RawBootSettings['pin']>
export type RawBootSettings = Static<typeof profileSchema>
export type RawGroup = Static<typeof groupSchema>
export type RawHost = Static<typeof hostSchema>
