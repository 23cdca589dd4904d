import type { DoctorReport, PatternSummary } from '../../schemas/boots.ts'
import { keyPath } from '../page-links.ts'
import { shownSince } from '../shown-time.ts'

type Severity = DoctorReport['findings'][number]['severity']

const severities: readonly Severity[] = ['problem', 'warning', 'note', 'ok']
const shapes: Readonly<
  Record<Severity, { readonly word: string; readonly icon: string; readonly tone: string }>
> = {
  problem: { word: 'Problem', icon: 'failed', tone: 'bad' },
  warning: { word: 'Warning', icon: 'stuck', tone: 'warn' },
  note: { word: 'Note', icon: 'note', tone: 'calm' },
  ok: { word: 'Fine', icon: 'good', tone: 'good' },
}

/** What keeps machines from booting, and the known ways in which boots go wrong. */
export function doctorView(report: DoctorReport, patterns: readonly PatternSummary[], now: number): object {
  const bad = report.findings.filter(({ severity }) => severity === 'problem' || severity === 'warning')
  const shown = patterns.filter(({ count }) => count > 0)
  return {
    summary:
      bad.length === 0
        ? 'Nothing keeps machines from booting.'
        : bad.length === 1
          ? '1 thing to look at.'
          : `${bad.length} things to look at.`,
    checkedAt: report.checkedAt,
    checked: shownSince(report.checkedAt, now),
    findings: [...report.findings]
      .sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
      .map((finding) => ({ ...finding, ...shapes[finding.severity] })),
    shown: shown.length === 0 ? 'No machine shows one now.' : '',
    patterns: [...patterns]
      .sort((a, b) => b.count - a.count)
      .map((pattern) => ({
        ...pattern,
        machines: pattern.machines.map((key) => ({
          name: key,
          href: keyPath(key),
          text: pattern.diagnoses.find(({ machine }) => machine === key)?.text,
        })),
        more: Math.max(0, pattern.count - pattern.machines.length),
      })),
  }
}
