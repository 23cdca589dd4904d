import type { BootDecision } from '../core/boot-decision.ts'
import { kernelOf, type ScriptSurroundings } from './boot-plan.ts'
import type { DecidedVariables } from './decided-variables.ts'
import type { Dialect } from './dialect.ts'
import type { TemplateName, VariableName } from './template-variables.ts'

/** Differ between equal machines, so they count only where a template uses them. */
const ofOneHost = ['host', 'reason', 'reasons'] as const satisfies readonly (keyof DecidedVariables)[]

/**
 * Everything that can change the script of a decision, as text: two decisions with the same key have the same script
 * below its header. Far cheaper than the variables themselves, which are made only when a script is rendered.
 */
export function scriptKey(
  dialect: Dialect,
  template: TemplateName,
  used: readonly VariableName[],
  decision: BootDecision,
  decided: DecidedVariables,
  surroundings: ScriptSurroundings,
): string {
  const { baseUrl, client, fetch, mac, configName } = surroundings
  const parts: unknown[] = [dialect, template, baseUrl, client.firmware, decision.arch]
  for (const variable of ofOneHost) if (used.includes(variable)) parts.push(decided[variable])
  if (dialect === 'pxelinux') parts.push(fetch)
  if (used.includes('boot_mac')) parts.push(mac)
  if (used.includes('config_file')) parts.push(configName)
  addInputs(parts, decision, surroundings)
  return JSON.stringify(parts)
}

function addInputs(parts: unknown[], decision: BootDecision, surroundings: ScriptSurroundings): void {
  switch (decision.kind) {
    case 'live':
    case 'install': {
      const { bootimage, parameters } = decision
      const { kernelArguments, ignition, report, platformId, rootfs, extraInitrds } = parameters
      const kernel = kernelOf(bootimage, surroundings)
      const { initramfs, rootfs: image, disks } = bootimage
      // The id tells the digests; the same files may be published under other names.
      parts.push(bootimage.id, kernel.sha256, kernel.name, initramfs.name, image?.name)
      for (const disk of disks) parts.push(disk.name)
      // Not the whole of Ignition: an inline config may be long and is not in a script, only that there is one.
      parts.push(
        kernelArguments,
        ignition === undefined,
        ignition?.url,
        report,
        platformId,
        rootfs,
        extraInitrds,
      )
      if (decision.kind === 'install') parts.push(decision.device, decision.generation)
      return
    }
    case 'wait':
      parts.push(decision.wanted)
      return
    case 'hold':
    case 'local':
      parts.push(decision.method)
      return
    case 'chainload':
      parts.push(decision.loader)
      return
    case 'ignore':
  }
}
