import type { ChangeOptions, FleetOperations } from '../fleet-operations.ts'
import type { HostDetail, PinnableRelease } from '../schemas/fleet.ts'
import { formLine, given, typedLine } from './read-form.ts'

/** What an admin can do to a host from its page; each has a page of its own that asks for confirmation. */
export interface HostAction {
  readonly name: string
  /** On its button. */
  readonly word: string
  readonly title: (host: string) => string
  readonly text: string
  readonly isGrave: boolean
  /** Whether it is possible now; default: always. */
  readonly fits?: (host: HostDetail) => boolean
  readonly fields: readonly FieldName[]
  /** Said on the page before, when the operation can tell what it would do. */
  readonly forecast?: (
    fleet: FleetOperations,
    host: string,
    change: ChangeOptions,
  ) => Promise<string | undefined>
  /** @returns what was done, in one sentence */
  readonly run: (
    fleet: FleetOperations,
    host: string,
    form: unknown,
    change: ChangeOptions,
  ) => Promise<string>
}

export type FieldName = 'release' | 'device' | 'reason' | 'until' | 'confirm'

export interface FormField {
  readonly name: FieldName
  readonly word: string
  readonly value: string
  readonly most: number
  readonly isRequired: boolean
  readonly hint?: string
  readonly options?: readonly { readonly value: string; readonly word: string; readonly isChosen: boolean }[]
}

const targetOf = (name: string) => ({ kind: 'host', name }) as const
const reasonOf = (form: unknown) => given({ reason: formLine(form, 'reason') })
const untilOf = (form: unknown) => given({ until: formLine(form, 'until', 64) })

function modeAction(
  mode: 'hold' | 'local' | 'live',
  words: Pick<HostAction, 'word' | 'title' | 'text' | 'isGrave'> & { readonly done: string },
): HostAction {
  const { done, ...shown } = words
  return {
    name: mode,
    ...shown,
    fields: ['reason', 'until'],
    async run(fleet, host, form, change) {
      await fleet.setMode({ target: targetOf(host), mode, ...reasonOf(form), ...untilOf(form) }, change)
      return done
    },
  }
}

const isArmed = ({ install }: HostDetail) => install?.state === 'armed'

export const hostActions: readonly HostAction[] = [
  {
    name: 'pin',
    word: 'Pin',
    title: (host) => `Pin ${host} to a release`,
    text: 'From its next network boot on it gets this release and no other. Until all files are here it waits, and its console says so.',
    isGrave: false,
    fields: ['release', 'reason', 'until'],
    async run(fleet, host, form, change) {
      const release = formLine(form, 'release', 128) ?? ''
      const pin = await fleet.setPin(
        { target: targetOf(host), release, ...reasonOf(form), ...untilOf(form) },
        change,
      )
      return `Pinned to ${pin.release}.`
    },
  },
  {
    name: 'unpin',
    word: 'Unpin',
    title: (host) => `Unpin ${host}`,
    text: 'It follows its stream again from its next network boot on.',
    isGrave: false,
    fits: ({ pins }) => pins.some(({ isRunTime, target }) => isRunTime && target.kind === 'host'),
    fields: ['reason'],
    async run(fleet, host, form, change) {
      await fleet.removePin({ target: targetOf(host), ...reasonOf(form) }, change)
      return 'Its pin is removed.'
    },
  },
  {
    name: 'install',
    word: 'Install',
    title: (host) => `Install ${host} to its disk`,
    text: 'At its next network boot it gets the installer, once. When it does, everything on that disk is lost.',
    isGrave: true,
    fields: ['device', 'reason', 'confirm'],
    async forecast(fleet, host, change) {
      const { next } = await fleet.armInstall({ host }, { ...change, dryRun: true })
      return next
    },
    async run(fleet, host, form, change) {
      const device = formLine(form, 'device', 210)
      const { next } = await fleet.armInstall({ host, ...given({ device }), ...reasonOf(form) }, change)
      return `Its install is armed. ${next ?? ''}`.trim()
    },
  },
  {
    name: 'installed',
    word: 'Is installed',
    title: (host) => `Say that ${host} is installed`,
    text: 'For a machine that cannot report it itself: its install is over, and it boots from its disk from now on.',
    isGrave: false,
    fits: isArmed,
    fields: ['reason'],
    async run(fleet, host, form, change) {
      await fleet.endInstall({ host, as: 'installed', ...reasonOf(form) }, change)
      return 'Its install is done.'
    },
  },
  {
    name: 'disarm',
    word: 'Disarm',
    title: (host) => `Disarm the install of ${host}`,
    text: 'It is not installed after all. A machine that runs the installer already goes on with it.',
    isGrave: false,
    fits: isArmed,
    fields: ['reason'],
    async run(fleet, host, form, change) {
      await fleet.endInstall({ host, as: 'disarm', ...reasonOf(form) }, change)
      return 'Its install is disarmed.'
    },
  },
  modeAction('local', {
    word: 'Local',
    title: (host) => `Boot ${host} from its disk`,
    text: 'From its next network boot on its script sends it to its own disk.',
    isGrave: false,
    done: 'It boots from its disk from now on.',
  }),
  modeAction('live', {
    word: 'Live',
    title: (host) => `Boot ${host} live`,
    text: 'From its next network boot on it runs from memory; its disk is left alone.',
    isGrave: false,
    done: 'It boots live from now on.',
  }),
  modeAction('hold', {
    word: 'Hold',
    title: (host) => `Hold ${host}`,
    text: 'It boots nothing: its console shows the reason for ten minutes, then it leaves network boot.',
    isGrave: true,
    done: 'It is held.',
  }),
  {
    name: 'release',
    word: 'Release',
    title: (host) => `Release ${host}`,
    text: 'Back to what its records say: ends a mode that was set at run time, and booting from its disk after an install.',
    isGrave: false,
    fits: ({ runTimeMode, install }) => runTimeMode !== undefined || install !== undefined,
    fields: ['reason'],
    async run(fleet, host, form, change) {
      await fleet.releaseMode({ target: targetOf(host), ...reasonOf(form) }, change)
      return 'It does again what its records say.'
    },
  },
]

/** Of the table, by its name in the URL. */
export function hostActionOf(name: string): HostAction | undefined {
  return hostActions.find((action) => action.name === name)
}

/** The fields of an action's form, filled with what was typed before. */
export function formFields(
  { fields }: HostAction,
  form: unknown,
  { host, releases }: { readonly host: HostDetail; readonly releases: readonly PinnableRelease[] },
): readonly FormField[] {
  const typed = (name: FieldName) => typedLine(form, name) ?? ''
  const made: Readonly<Record<FieldName, () => FormField>> = {
    release: () => ({
      name: 'release',
      word: 'Release',
      value: '',
      most: 128,
      isRequired: true,
      options: releaseOptions(releases, typed('release') || host.pin?.release),
    }),
    device: () => ({
      name: 'device',
      word: 'Disk',
      value: typed('device'),
      most: 210,
      isRequired: false,
      hint: 'For example /dev/sda. Empty: what its settings say.',
    }),
    reason: () => ({
      name: 'reason',
      word: 'Reason',
      value: typed('reason'),
      most: 200,
      isRequired: false,
      hint: 'For those who ask later; it stands in the list of changes.',
    }),
    until: () => ({
      name: 'until',
      word: 'Until',
      value: typed('until'),
      most: 64,
      isRequired: false,
      hint: 'For example 48h or 2026-12-31. Empty: until somebody changes it.',
    }),
    confirm: () => ({
      name: 'confirm',
      word: `Type ${host.id} to confirm`,
      value: '',
      most: 63,
      isRequired: true,
    }),
  }
  return fields.map((name) => made[name]())
}

/** One for each release, though several architectures may have it. */
function releaseOptions(releases: readonly PinnableRelease[], chosen: string | undefined) {
  const byRelease = new Map<string, PinnableRelease[]>()
  for (const option of releases)
    byRelease.set(option.release, [...(byRelease.get(option.release) ?? []), option])
  return [...byRelease].map(([release, options]) => {
    const isCurrent = options.some((option) => option.isCurrent)
    const states = [...new Set(options.map(({ state }) => state))].join(', ')
    return {
      value: release,
      word: `${release}  (${isCurrent ? 'current, ' : ''}${states})`,
      isChosen: release === chosen,
    }
  })
}
