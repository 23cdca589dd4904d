import type { BootDecision } from '../core/boot-decision.ts'
import type { BootClient } from '../core/client.ts'
import { type BootView, decideBoot, identify } from '../core/decide-boot.ts'
import type { BootMode, Host, Inventory } from '../core/host.ts'
import { armInstall } from '../core/install.ts'
import { type Reason, reason } from '../core/reason.ts'
import type { RenderTemplate } from '../http/admin/operations.ts'

/**
 * The machine's decision as if it were in that mode, for `render --template`; nothing is served by it. Where that mode
 * cannot be had (no install device, nothing fetched yet), the decision says so, as it would for the machine.
 */
export function decideAsIf(
  template: Exclude<RenderTemplate, 'entry'>,
  client: BootClient,
  view: BootView,
): BootDecision {
  if (template === 'wait') return waiting(client, view)
  const mode: BootMode = template
  const { host } = identify(client, view)
  const known = host ?? stranger(client, view.inventory)
  const inventory = host === undefined ? withHost(view.inventory, known) : view.inventory
  const oneShots = new Map([
    [known.id, { settings: { mode }, origin: { kind: 'one-shot', name: '--template' } as const }],
  ])
  const installs = new Map([
    [known.id, armInstall(undefined, 0, { host: known.id, by: '--template', at: view.now })],
  ])
  const decision = decideBoot(client, {
    ...view,
    inventory: { ...inventory, installs, installsByMark: new Map() },
    oneShots,
  })
  return host === undefined ? ofNobody(decision) : decision
}

/** The host that was made up for it is no record of anybody's, so nothing may say so. */
function ofNobody(decision: BootDecision): BootDecision {
  const [first, ...others] = decision.reasons
  return { ...decision, host: undefined, reasons: [asUnknown(first), ...others.map(asUnknown)] }
}

function asUnknown(told: Reason): Reason {
  return told.code.startsWith('host-matched-by-') ? reason('host-unknown') : told
}

function waiting(client: BootClient, view: BootView): BootDecision {
  const { host, settings } = identify(client, view)
  const stream = settings.stream?.value ?? 'none'
  const arch = host?.arch ?? client.arch ?? 'x86_64'
  const release =
    settings.pin?.value.release ??
    view.catalog.streams.get(stream)?.byArch.get(arch)?.current?.bootimage.release
  return {
    kind: 'wait',
    host,
    arch,
    wanted: { stream, arch, ...(release === undefined ? {} : { release }) },
    reasons: [reason('current-being-fetched', { stream, release: release ?? 'unknown' })],
  }
}

/** An unknown machine as a host of the profile it gets. */
function stranger({ macs }: BootClient, { unknown }: Inventory): Host {
  return {
    id: 'unknown',
    macs,
    labels: {},
    origin: { kind: 'default', name: '' },
    ...(unknown.kind === 'profile' ? { profile: unknown.profile } : {}),
  }
}

function withHost(inventory: Inventory, host: Host): Inventory {
  return { ...inventory, hostsByMac: new Map(host.macs.map((mac) => [mac, host])) }
}
