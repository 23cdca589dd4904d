import type { Firmware } from '../core/client.ts'
import { type Dialect, dialects } from './dialect.ts'

/** What `local`, `hold` and `ignore` end with; methods that are no script leave as the firmware's default does. */
export type LeaveMethod = 'exit' | 'exit 1' | 'sanboot'

export interface InitrdVariable {
  readonly name: string
  readonly url: string
}

/**
 * Everything a template can use. Text is safe as it is: URLs hold no blank, kernel arguments are words that the loader
 * of the dialect hands over unchanged, all other text has only letters, digits, blanks and `._:@/,=+()-` (field case
 * 117).
 */
export interface TemplateVariables {
  readonly base_url: string
  readonly service: string
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
  readonly kernel_file: string
  readonly initrd_files: readonly string[]
  readonly boot_arguments: string
  readonly boot_interface: boolean
  readonly boot_mac: string
  readonly operator_arguments: string
  readonly device: string
  readonly generation: number
  readonly image_url: string
  readonly wanted: string
  readonly leave: LeaveMethod
  readonly firmware: Firmware
  readonly loader_url: string
  readonly loader_file: string
  readonly config_file: string
}

export type VariableName = keyof TemplateVariables
export type VariableValue = TemplateVariables[VariableName]

const told = [
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
const booting = ['boot_arguments', 'boot_interface', 'operator_arguments'] as const
const installing = ['device', 'generation'] as const

const ipxeBooting = [...told, 'kernel_url', 'initrds', ...booting] as const
const grubTold = [...told, 'service'] as const
const grubBooting = [...grubTold, 'kernel_file', 'initrd_files', 'boot_mac', ...booting] as const
const pxelinuxTold = [...told, 'firmware', 'config_file'] as const
const pxelinuxBooting = [...pxelinuxTold, 'kernel_file', 'initrd_files', 'boot_mac', ...booting] as const

type Templates = Readonly<Record<string, readonly VariableName[]>>

/**
 * The templates of each dialect and what each of them is given. A template that names anything else is refused when it
 * is loaded.
 */
export const templateVariables = {
  ipxe: {
    entry: ['base_url'],
    live: ipxeBooting,
    install: [...ipxeBooting, ...installing],
    'legacy-installer': [...ipxeBooting, ...installing, 'image_url'],
    wait: [...told, 'wanted'],
    hold: [...told, 'leave'],
    local: [...told, 'leave'],
    ignore: [...told, 'leave'],
    chainload: [...told, 'loader_url'],
  },
  grub: {
    entry: ['base_url', 'service'],
    live: grubBooting,
    install: [...grubBooting, ...installing],
    'legacy-installer': [...grubBooting, ...installing, 'image_url'],
    wait: [...grubTold, 'wanted'],
    hold: [...grubTold, 'leave'],
    local: [...grubTold, 'leave'],
    ignore: [...grubTold, 'leave'],
    chainload: [...grubTold, 'loader_file'],
  },
  pxelinux: {
    live: pxelinuxBooting,
    install: [...pxelinuxBooting, ...installing],
    'legacy-installer': [...pxelinuxBooting, ...installing, 'image_url'],
    wait: [...pxelinuxTold, 'wanted'],
    hold: [...pxelinuxTold, 'leave'],
    local: [...pxelinuxTold, 'leave'],
    ignore: [...pxelinuxTold, 'leave'],
    chainload: [...pxelinuxTold, 'loader_file'],
  },
} as const satisfies Readonly<Record<Dialect, Templates>>

/** A template that a decision is written with; every dialect has all of them. */
export type DecisionTemplate = keyof (typeof templateVariables)['pxelinux']
export type TemplateName = DecisionTemplate | 'entry'

export type VariablesOf<Of extends Dialect, Name extends keyof (typeof templateVariables)[Of]> = Pick<
  TemplateVariables,
  Extract<(typeof templateVariables)[Of][Name] extends readonly (infer One)[] ? One : never, VariableName>
>

/** The variables of one decision template of a dialect, whichever that is. */
export type ScriptVariables<Of extends Dialect> = {
  readonly [Name in DecisionTemplate]: VariablesOf<Of, Name>
}[DecisionTemplate]

export function templatesOf(dialect: Dialect): Templates {
  return templateVariables[dialect]
}

export function templateNamesOf(dialect: Dialect): readonly TemplateName[] {
  return Object.keys(templateVariables[dialect]) as TemplateName[]
}

/** Every variable that some template is given. */
export const variableNames: readonly VariableName[] = [
  ...new Set(dialects.flatMap((dialect) => Object.values(templatesOf(dialect)).flat())),
]
