import type { TemplateVariables, VariableName } from './template-variables.ts'

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
  service: {
    text: 'The same as GRUB names a device; a path follows.',
    example: '(http,192.0.2.10:8080)',
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
  kernel_file: {
    text: 'The kernel as the loader names it: a quoted word of GRUB; for PXELINUX a URL, or a path where it asked by TFTP.',
    example: `/artifacts/${digest('1')}/kernel`,
  },
  initrd_files: {
    text: 'Initrds in the order in which they are loaded, named as the kernel is.',
    example: [`/artifacts/${digest('2')}/main`],
  },
  boot_arguments: {
    text: 'Kernel arguments that the boot needs; for iPXE they begin with `initrd=` for each initrd.',
    example: `coreos.live.rootfs_url=${artifacts}/${digest('3')}/rootfs.img?boot=${bootId} rd.neednet=1`,
  },
  boot_interface: {
    text: 'Whether `BOOTIF=01-<MAC>` of the booting NIC belongs after them.',
    example: true,
  },
  boot_mac: {
    text: 'That MAC with hyphens; empty where the loader did not tell it.',
    example: '52-54-00-ab-cd-ef',
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
  firmware: { text: '`bios`, `uefi`, `open-firmware` or `unknown`.', example: 'bios' },
  loader_url: { text: 'URL of the loader to start.', example: 'http://192.0.2.10:8080/loaders/ipxe.efi' },
  loader_file: { text: 'The loader to start, named as the kernel is.', example: '/undionly.kpxe' },
  config_file: {
    text: 'The configuration of this machine, to be read again; named as the kernel is.',
    example: '/pxelinux.cfg/01-52-54-00-ab-cd-ef',
  },
}
