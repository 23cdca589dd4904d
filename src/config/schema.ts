import { type Static, Type } from 'typebox'
import { dhcpSchema, tftpSchema } from './dhcp-schema.ts'
import { groupSchema, profileSchema } from './machine-schema.ts'
import { closed, list, namedBy, oneOf, text } from './schema-parts.ts'
import { streamSchema } from './stream-schema.ts'
import { webhookSchema } from './webhook-schema.ts'

/** Where a packaged service keeps its data. */
export const defaultDataDir = '/var/lib/pilotlight'

/**
 * `pilotlight.yaml`, every key of it. Types, error messages, the reference, the JSON schema and the names of flags and
 * environment variables are made from this.
 */
export const configSchema = Type.Object(
  {
    version: Type.Literal(1, { description: 'The version of this format.' }),
    dataDir: text('path', 'Where artifacts, metadata and state are kept.', {
      default: defaultDataDir,
    }),
    boot: Type.Object(
      {
        address: Type.Optional(
          text(
            'boot-address',
            'What stands in the URLs that nodes get. Default: the address that was asked.',
          ),
        ),
        http: Type.Object(
          {
            listen: text('listen-address', 'Where nodes fetch scripts and files.', { default: '0.0.0.0:80' }),
            ignoredMachines: oneOf(
              ['script', 'http-404'],
              'What a machine that is to be ignored gets: a script that leaves network boot, or no answer.',
              { default: 'script' },
            ),
          },
          { ...closed, section: true, description: 'The boot listener.' },
        ),
        tftp: Type.Optional(tftpSchema),
        dhcp: Type.Optional(dhcpSchema),
        loaders: Type.Object(
          {
            directories: list(
              text('path', 'A folder.'),
              'Folders of your own with iPXE, GRUB and shim; everything in them is served. Those of Debian and Fedora packages are looked through after them.',
              { default: [] },
            ),
            sets: namedBy(
              'name',
              Type.Object(
                { directory: text('path', 'The folder with its shim and the GRUB of the same signer.') },
                { ...closed, description: 'One set.' },
              ),
              'Loaders for Secure Boot, a folder for each signer.',
              { default: {} },
            ),
          },
          { ...closed, section: true, description: 'Loader binaries.' },
        ),
        tokens: Type.Object(
          {
            life: text(
              'minutes',
              'How long a machine can fetch its Ignition config with the URL of its boot. Its other files stay as long.',
              { default: '2h' },
            ),
            reportLife: text(
              'minutes',
              'How long it can report how it fares: an installed system comes up much later.',
              { default: '24h' },
            ),
            bind: oneOf(
              ['none', 'address'],
              'address: the config goes only to the address that the machine has by DHCP, or else that asked first, and a second one that asks for the same host is refused while the first boots.',
              { default: 'none' },
            ),
          },
          {
            ...closed,
            section: true,
            description: 'The URLs with which machines fetch Ignition configs and report.',
          },
        ),
      },
      { ...closed, section: true, description: 'What nodes see.' },
    ),
    admin: Type.Object(
      {
        listen: text('listen-address', 'Health, metrics and API.', { default: '127.0.0.1:8081' }),
        tls: Type.Optional(
          Type.Object(
            {
              certificate: text(
                'path',
                'A PEM file with the certificate, and with those between it and its authority.',
              ),
              key: text('path', 'A PEM file with its private key, without a passphrase.'),
              clientAuthority: Type.Optional(
                text(
                  'path',
                  'A PEM file with certificates: only clients whose certificate one of them signed are let in.',
                ),
              ),
            },
            { ...closed, description: 'HTTPS. Renewed files are taken over without a restart.' },
          ),
        ),
        trustedProxies: list(
          text('address-range', 'An address or a network.'),
          'Proxies that are believed when they say for whom they ask (X-Forwarded-For).',
          { default: [] },
        ),
      },
      { ...closed, section: true, description: 'What admins see.' },
    ),
    streams: namedBy('name', streamSchema, 'The streams that are followed, each under a name of your own.', {
      default: {},
    }),
    keys: list(text('path', 'A file with public keys.'), 'OpenPGP keys trusted for every stream.', {
      default: [],
    }),
    profiles: namedBy('name', profileSchema, 'What machines can get.', { default: {} }),
    groups: namedBy('name', groupSchema, 'Settings for hosts with certain labels.', { default: {} }),
    unknown: Type.Union(
      [
        oneOf(['ignore'], 'They get nothing.'),
        Type.Object({ profile: text('name', 'The profile they get; never one that installs.') }, closed),
      ],
      {
        default: 'ignore',
        allowed: 'ignore or { profile: NAME }',
        description:
          'What machines get that no host record knows. Must be written down when boot.dhcp is on.',
      },
    ),
    hosts: Type.Optional(
      Type.Object(
        { directory: text('path', 'All *.yaml files in it are read, by name.') },
        { ...closed, description: 'Files with machines.' },
      ),
    ),
    templates: Type.Optional(
      Type.Object(
        { directory: text('path', 'Its files stand above the shipped ones of the same name.') },
        { ...closed, description: 'Script templates of your own.' },
      ),
    ),
    upstream: Type.Object(
      {
        proxy: Type.Optional(
          text(
            'proxy-url',
            'The proxy for all requests to the outside. Default: HTTPS_PROXY or HTTP_PROXY.',
            {
              secret: true,
            },
          ),
        ),
        noProxy: Type.Optional(
          text('line', 'Hosts that are asked without it, separated by commas. Default: NO_PROXY.'),
        ),
        ca: Type.Optional(
          text('path', 'A file with certificates that are trusted besides those of the system.'),
        ),
        allow: list(
          text('origin', 'An origin.'),
          'Origins that may have loopback or link-local addresses. Those of sources and mirrors may anyway.',
          { default: [] },
        ),
      },
      { ...closed, section: true, description: 'How the service speaks with the outside.' },
    ),
    webhooks: list(
      webhookSchema,
      'Who is told of boots, streams and changes as they happen. What waits when the service stops is lost.',
      { default: [] },
    ),
    retention: Type.Object(
      {
        audit: text('long-duration', 'Who changed what; the newest 200,000 changes at most.', {
          default: '400d',
        }),
        reports: text('long-duration', 'What machines reported.', { default: '90d' }),
        boots: text('long-duration', 'Boots with all of their steps; the newest 100,000 at most.', {
          default: '30d',
        }),
        seen: text('long-duration', 'Unknown machines since they asked last; 10,000 at most.', {
          default: '30d',
        }),
      },
      { ...closed, section: true, description: 'How long history is kept.' },
    ),
    capture: Type.Union(
      [
        oneOf(['off'], 'No packets are kept.'),
        Type.Object(
          {
            memory: text('capture-memory', 'For the packets of all machines together; the oldest go first.', {
              default: '8MiB',
            }),
          },
          closed,
        ),
      ],
      {
        default: { memory: '8MiB' },
        allowed: 'off or { memory: SIZE }',
        description:
          'The DHCP and TFTP packets of the last boots of each machine, in memory alone, for `pilotlight capture MAC`.',
      },
    ),
    log: Type.Object(
      {
        level: oneOf(
          ['debug', 'info', 'warn', 'error', 'silent'],
          'The least important lines that are written.',
          {
            default: 'info',
          },
        ),
        format: oneOf(['auto', 'text', 'json'], 'auto: text on a terminal, else JSON.', {
          default: 'auto',
        }),
      },
      { ...closed, section: true, description: 'The log.' },
    ),
  },
  { ...closed, description: 'The configuration of Pilotlight.' },
)

export type RawConfig = Static<typeof configSchema>

/** What counts where there is no file at all: enough to be tried out by hand, without root and without a network. */
export const startDefaults = {
  version: 1,
  dataDir: './data',
  boot: { http: { listen: ':8080' } },
  streams: {
    'fcos-stable': {
      source: {
        url: 'https://builds.coreos.fedoraproject.org/streams/stable.json',
        releaseIndex: 'https://builds.coreos.fedoraproject.org/prod/streams/stable/releases.json',
      },
    },
  },
  profiles: { live: { stream: 'fcos-stable', mode: 'live' } },
  unknown: { profile: 'live' },
} as const
