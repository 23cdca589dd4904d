/** `problem`: a machine will not boot, or the service will not start. `warning`: it may. `note`: worth knowing. */
export const severities = ['ok', 'note', 'warning', 'problem'] as const
export type Severity = (typeof severities)[number]

/** What is looked at, in the order in which it is told. */
export const checkNames = [
  'service',
  'boots',
  'ports',
  'rights',
  'interfaces',
  'dhcp',
  'loaders',
  'fetch',
  'upstream',
  'disk',
  'clock',
  'data',
] as const
export type CheckName = (typeof checkNames)[number]

/** One thing that was found, and what to do about it. */
export interface Finding {
  readonly check: CheckName
  readonly severity: Severity
  readonly what: string
  readonly todo?: string
}

/** Makes the findings of one check. Nobody is left alone with a warning: it comes with what to do. */
export function findingsOf(check: CheckName) {
  const of = (severity: Severity, what: string, todo: string | undefined): Finding => ({
    check,
    severity,
    what,
    ...(todo === undefined ? {} : { todo }),
  })
  return {
    ok: (what: string) => of('ok', what, undefined),
    note: (what: string, todo?: string) => of('note', what, todo),
    warning: (what: string, todo: string) => of('warning', what, todo),
    problem: (what: string, todo: string) => of('problem', what, todo),
  }
}

/** Whether nothing stands in the way of booting machines. */
export function isHealthy(findings: readonly Finding[]): boolean {
  return findings.every(({ severity }) => severity !== 'problem')
}
