/** What `local`, `hold` and `ignore` end with; methods that are no script leave as the firmware's default does. */
export type LeaveMethod = 'exit' | 'exit 1' | 'sanboot'

export interface InitrdVariable {
  readonly name: string
  readonly url: string
}

/**
 * Everything a template can use. Text is safe as it is: URLs hold no blank, kernel arguments are words that iPXE hands
 * over unchanged, all other text has only letters, digits, blanks and `._:@/,=+()-` (field case 117).
 */
export interface TemplateVariables {
  readonly base_url: string
  readonly boot_id: string
  readonly decision: string
  readonly reason: string
  readonly reasons: readonly string[]
  readonly host: string
  readonly stream: string
  readonly release: string
  readonly arch: string
  readonly kernel_url: string
  readonly initrds: readonly InitrdVariable[]
  readonly boot_arguments: string
  readonly boot_interface: boolean
  readonly operator_arguments: string
  readonly device: string
  readonly generation: number
  readonly image_url: string
  readonly wanted: string
  readonly leave: LeaveMethod
  readonly loader_url: string
}

export type VariableName = keyof TemplateVariables
export type VariableValue = TemplateVariables[VariableName]

const decided = [
  'base_url',
  'boot_id',
  'decision',
  'reason',
  'reasons',
  'host',
  'stream',
  'release',
  'arch',
] as const
const booting = [
  ...decided,
  'kernel_url',
  'initrds',
  'boot_arguments',
  'boot_interface',
  'operator_arguments',
] as const

/** The templates and what each of them is given. A template that names anything else is refused when it is loaded. */
export const templateVariables = {
  entry: ['base_url'],
  live: booting,
  install: [...booting, 'device', 'generation'],
  'legacy-installer': [...booting, 'device', 'generation', 'image_url'],
  wait: [...decided, 'wanted'],
  hold: [...decided, 'leave'],
  local: [...decided, 'leave'],
  ignore: [...decided, 'leave'],
  chainload: [...decided, 'loader_url'],
} as const satisfies Readonly<Record<string, readonly VariableName[]>>

export type TemplateName = keyof typeof templateVariables
export type VariablesOf<Name extends TemplateName> = Pick<
  TemplateVariables,
  (typeof templateVariables)[Name][number]
>

export const templateNames = Object.keys(templateVariables) as readonly TemplateName[]

interface VariableDescription<Value> {
  readonly text: string
  readonly example: Value
}

const artifacts = 'http://192.0.2.10:8080/artifacts'
const bootId = 'AAECAwQFBgcICQoLDA0ODw'
const digest = (digit: string) => digit.repeat(64)

/** What each variable is, with an example; `templates/README.md` and the trial run of every template come from here. */
export const variableDescriptions: {
  readonly [Name in VariableName]: VariableDescription<TemplateVariables[Name]>
} = {
  base_url: {
    text: 'Where this service is reached; no slash at the end.',
    example: 'http://192.0.2.10:8080',
  },
  boot_id: {
    text: 'Id of this boot. Scripts are kept without it, so print it as it is; filters on it see a stand-in.',
    example: bootId,
  },
  decision: {
    text: '`live`, `install`, `wait`, `hold`, `local`, `ignore` or `chainload`.',
    example: 'live',
  },
  reason: {
    text: 'Why, in one sentence: what decided.',
    example: 'follows stream fcos-stable: current is 44.20260707.3.1',
  },
  reasons: {
    text: 'What decided, then how the machine was recognised and what else counts.',
    example: [
      'follows stream fcos-stable: current is 44.20260707.3.1',
      'host rack1-n01 has MAC 52:54:00:ab:cd:ef',
    ],
  },
  host: { text: 'Id of the host; empty for an unknown machine.', example: 'rack1-n01' },
  stream: { text: 'The followed stream; empty where none is decided.', example: 'fcos-stable' },
  release: {
    text: 'The release, as metadata spells it; empty where none is decided.',
    example: '44.20260707.3.1',
  },
  arch: { text: 'RPM name of the architecture; empty where it is not known.', example: 'x86_64' },
  kernel_url: { text: 'URL of the kernel.', example: `${artifacts}/${digest('1')}/kernel?boot=${bootId}` },
  initrds: {
    text: 'Initrds in the order in which they are loaded, each with `name` and `url`. The first is `main`.',
    example: [{ name: 'main', url: `${artifacts}/${digest('2')}/initramfs.img?boot=${bootId}` }],
  },
  boot_arguments: {
    text: 'Kernel arguments that the boot needs, beginning with `initrd=` for each initrd.',
    example: `initrd=main coreos.live.rootfs_url=${artifacts}/${digest('3')}/rootfs.img?boot=${bootId} rd.neednet=1`,
  },
  boot_interface: {
    text: 'Whether `BOOTIF=01-<MAC>` of the booting NIC belongs after them.',
    example: true,
  },
  operator_arguments: {
    text: "The operator's kernel arguments, which come last; may be empty.",
    example: 'console=tty0 console=ttyS0,115200n8',
  },
  device: { text: 'The disk to install to.', example: '/dev/sda' },
  generation: { text: 'Which install of this host it is.', example: 1 },
  image_url: {
    text: 'URL of the disk image that the legacy installer writes.',
    example: `${artifacts}/${digest('4')}/metal.raw.gz?boot=${bootId}`,
  },
  wanted: {
    text: 'What the machine waits for.',
    example: 'fcos-stable 44.20260707.3.1 for x86_64',
  },
  leave: { text: 'How to leave network boot: `exit`, `exit 1` or `sanboot`.', example: 'exit 1' },
  loader_url: { text: 'URL of the loader to start.', example: 'http://192.0.2.10:8080/loaders/ipxe.efi' },
}
