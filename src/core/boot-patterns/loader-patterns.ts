import { durationText } from '../boot-attempts/amounts.ts'
import type { AttemptFacts, FileFacts } from '../boot-attempts/attempt-facts.ts'
import { reached } from '../boot-attempts/journey.ts'
import { visibleText } from '../visible-text.ts'
import type { BootPattern, EarlierBoot, PatternContext } from './pattern.ts'

/** A loader starts in a moment; this long after it nothing else is on its way. */
const startedMs = 10_000
const fewestLoops = 3
const loopWindowMs = 30 * 60_000

/** The loader of a boot that has it and has not come further. */
function lastLoader(facts: AttemptFacts, { isOver, quietMs }: PatternContext): FileFacts | undefined {
  const { journey, files } = facts
  if (isOver || journey.level !== reached.loader || journey.loaders === 0 || quietMs < startedMs)
    return undefined
  const loader = files.get('loader')
  return loader?.isOpen === true ? undefined : loader
}

function nameOf({ name }: FileFacts): string {
  return name === undefined ? 'its loader' : visibleText(name, 120)
}

export const loaderOfWrongArchitecture: BootPattern = {
  info: {
    code: 'loader-of-wrong-architecture',
    title: 'Loader of the wrong architecture',
    text: 'The firmware fetched a loader that is made for another processor; it cannot start it and says nothing.',
    remedy:
      "Let it fetch the loader of its own architecture: correct the file name in the site's DHCP server, or the loader of the host (loader:). pilotlight loaders lists them with their architectures.",
    cases: [14],
  },
  match(facts, context) {
    const loader = lastLoader(facts, context)
    const { arch } = facts
    if (loader?.loaderArch === undefined || arch === undefined || loader.loaderArch === arch) return undefined
    return {
      text: `It is ${arch} and fetched ${nameOf(loader)}, which is for ${loader.loaderArch}.`,
      at: loader.wholeAt ?? loader.lastAt,
    }
  },
}

export const loaderLoop: BootPattern = {
  info: {
    code: 'loader-loop',
    title: 'Loader loop',
    text: 'The machine fetches a loader again and again and never comes to its script.',
    remedy:
      'The loader does not start, or asks for itself again. With Secure Boot switched on set secureBoot: true for the host (a signed shim), or switch it off; otherwise give it another loader (loader: ipxe.efi instead of snponly.efi). Its screen shows why it leaves.',
    cases: [16, 17, 125],
  },
  match(facts, context) {
    const loader = lastLoader(facts, context)
    if (loader === undefined) return undefined
    const before = loaderOnlyBoots(context.before, facts.startedAt)
    const count = loader.repeats + before.reduce((sum, boot) => sum + Math.min(boot.loaders, 1), 0)
    const isTold = facts.isLoopTold
    if (count < fewestLoops && !isTold) return undefined
    const since = before.at(-1)?.startedAt ?? loader.startedAt
    return {
      text: `It fetched ${nameOf(loader)} ${isTold && count < fewestLoops ? 'in boot after boot' : `${count} times`} and never a script.`,
      at: since,
    }
  },
}

/** Boots just before this one that came to their loader and no further, newest first. */
function loaderOnlyBoots(before: readonly EarlierBoot[], startedAt: number): readonly EarlierBoot[] {
  const end = before.findIndex(
    (boot) =>
      boot.level !== reached.loader || boot.loaders === 0 || startedAt - boot.startedAt > loopWindowMs,
  )
  return end < 0 ? before : before.slice(0, end)
}

export const scriptNotFetched: BootPattern = {
  info: {
    code: 'script-not-fetched',
    title: 'Script never fetched',
    text: 'The firmware fetched its loader whole, and the loader did not fetch its script.',
    remedy:
      'Look at its screen. "Access denied" or "Security violation": Secure Boot refuses the loader; set secureBoot: true for the host, or switch it off. "No configuration methods" or "Link: down": the loader\'s driver does not get the link up in time (portfast on the switch port; loader: snponly.efi uses the driver of the firmware, loader: ipxe.efi its own). A timeout of HTTP: the port of boot.http does not reach it.',
    cases: [14, 58, 125],
  },
  match(facts, context) {
    const loader = lastLoader(facts, context)
    if (loader === undefined || context.quietMs < context.limitMs) return undefined
    const asked =
      facts.loaderAskedAt === undefined
        ? 'it was not heard of'
        : 'it started and asked for an address, and fetched no script,'
    return {
      text: `${nameOf(loader)} went out whole, and ${asked} in the ${durationText(context.quietMs)} after that.`,
      remedy:
        facts.loaderAskedAt === undefined
          ? undefined
          : 'The loader runs and does not reach the script: see that TCP to boot.http gets through (firewall, routes), that the switch port forwards at once (portfast), and that no other DHCP server gives its iPXE a file name.',
      at: loader.wholeAt ?? loader.lastAt,
    }
  },
}
