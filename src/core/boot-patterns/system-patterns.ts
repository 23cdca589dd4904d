import { durationText } from '../boot-attempts/amounts.ts'
import type { AttemptFacts } from '../boot-attempts/attempt-facts.ts'
import { isInPassing } from '../boot-attempts/in-passing.ts'
import { visibleText } from '../visible-text.ts'
import type { BootPattern } from './pattern.ts'

/** Ignition asks again every few seconds. */
const refusedMs = 5_000

function hasFiles({ files }: AttemptFacts): boolean {
  return (files.get('rootfs')?.wholes ?? 0) > 0 || (files.get('disk')?.wholes ?? 0) > 0
}

export const ignitionNotFetched: BootPattern = {
  info: {
    code: 'ignition-not-fetched',
    title: 'Ignition config not fetched',
    text: 'The machine has its files and did not get the Ignition config that its script names.',
    remedy:
      'Its console shows what Ignition waits for. See that ignition.firstboot and ignition.platform.id=metal are among its kernel arguments (pilotlight render shows the script), that no kernel argument of yours names another config, and that it still reaches this service after its network was set up.',
    cases: [128, 129],
  },
  match(facts, context) {
    const { decision, ignitionAt, ignitionRefusal } = facts
    if (decision?.expects?.includes('ignition') !== true || ignitionAt !== undefined) return undefined
    if (context.isOver) return undefined
    if (ignitionRefusal !== undefined && context.quietMs >= refusedMs) {
      return {
        text: `It asked for its Ignition config, and its token was refused: ${refusalText(ignitionRefusal.refusal)}.`,
        remedy: `Let ${context.name} boot once more: each boot has a token of its own. If it comes again, pilotlight explain says which config it gets, and boot.tokens in the configuration how long and for whom tokens are good.`,
        at: ignitionRefusal.at,
      }
    }
    if (!hasFiles(facts) || context.quietMs < context.limitMs) return undefined
    return {
      text: `It got its rootfs, and did not ask for its Ignition config in the ${durationText(context.quietMs)} after that.`,
      at: facts.lastAt,
    }
  },
}

function refusalText(refusal: string): string {
  return visibleText(refusal.replaceAll('-', ' '), 60)
}

export const noReport: BootPattern = {
  info: {
    code: 'no-report',
    title: 'No report',
    text: 'The machine got everything that it needs and was to report how it fares, and does not.',
    remedy:
      'Look at its console: it may hang in a unit of its Ignition config, or have no network once the system runs. It reports when it has reached multi-user.target (systemctl status pilotlight-report on the machine). Machines that need longer are learned after one good boot.',
    cases: [165],
  },
  match(facts, context) {
    const { servedAt, decision, report } = facts
    if (context.isOver || servedAt === undefined || report !== undefined) return undefined
    if (decision?.expects?.includes('report') !== true || context.quietMs < context.limitMs) return undefined
    return {
      text: `It got its last file, and did not report in the ${durationText(context.quietMs)} after that.`,
      at: servedAt,
    }
  },
}

/** What CoreOS calls a release: `44.20261129.3.0`, `417.94.202410090854-0`, `9.6.20250523-0`. */
const releaseLike = /^\d+\.\d+\.[\d.]+(?:-\d+)?$/

export const reportsAnotherRelease: BootPattern = {
  info: {
    code: 'reports-another-release',
    title: 'Reports another release than served',
    text: 'The machine reports an OS version that is not the release it was given.',
    remedy:
      'It booted from something else: an old system on its disk, or another boot server. Look at its boot order and at kernel arguments of yours that name a rootfs. After an install: the disk that was written is not the one it boots from.',
    cases: [130],
  },
  match({ report, decision }) {
    if (report?.osVersion === undefined || decision?.bootimage === undefined || report.status === 'failed')
      return undefined
    // An installed system updates itself, and reports what it is by then.
    if (decision.kind === 'install' && report.status !== 'installed') return undefined
    const release = decision.bootimage.split('/')[2]
    const said = report.osVersion.trim()
    if (release === undefined || !releaseLike.test(release) || !releaseLike.test(said) || said === release)
      return undefined
    return { text: `It was given ${release} and reports ${visibleText(said, 60)}.`, at: report.at }
  },
}

export const overdue: BootPattern = {
  info: {
    code: 'overdue',
    title: 'Next step overdue',
    text: 'The machine has been silent for longer than this step takes, and no other pattern fits.',
    remedy:
      'Look at its console, and at its last packets with pilotlight capture; a power cycle begins anew.',
    cases: [165],
  },
  match(facts, { isOver, quietMs, limitMs, mac, isKnown }) {
    // Whoever looks at an URL of ours without being a machine does not go on either.
    if (isOver || quietMs < limitMs || mac === undefined) return undefined
    if (facts.run?.decision === 'ignore' && facts.decision === undefined) return undefined
    if (isInPassing(facts, isKnown)) return undefined
    const { kind } = facts.decision ?? {}
    if (kind === 'wait') {
      return {
        text: `It waited for its release, and did not ask again in the next ${durationText(quietMs)}.`,
        remedy: 'It was switched off, or its network has gone: it asks again when it boots.',
        at: facts.lastAt,
      }
    }
    return {
      text: `It went silent (${facts.phase}), and nothing was heard of it in the next ${durationText(quietMs)}; up to ${durationText(limitMs)} are normal.`,
      at: facts.lastAt,
    }
  },
}
