import { request } from 'undici'
import type { NodeBoot } from './simulated-node.ts'

/** Where a report goes, in the config that makes a node report by itself. */
const reportUrlFile = '/etc/pilotlight/report-url'

/** The config that a booted node, or its installer, fetches: the URL stands in its kernel arguments. */
export function ignitionUrlOf({ kernelArguments }: Pick<NodeBoot, 'kernelArguments'>): string | undefined {
  for (const key of ['coreos.inst.ignition_url=', 'ignition.config.url=']) {
    const argument = kernelArguments.find((word) => word.startsWith(key))
    if (argument !== undefined) return argument.slice(key.length)
  }
  return undefined
}

/**
 * Fetches the Ignition config of a boot as Ignition would.
 * @returns its text, or the status of a refusal
 */
export async function fetchIgnition(url: string): Promise<string | number> {
  const response = await request(url, { headersTimeout: 30_000, bodyTimeout: 30_000 })
  const text = await response.body.text()
  return response.statusCode === 200 ? text : response.statusCode
}

/** Says how the node fares, as the unit in its config does. @returns the status of the answer */
export async function sendReport(
  ignition: string,
  report: { readonly status: 'booted' | 'installed' | 'failed'; readonly osVersion: string },
): Promise<number> {
  const url = reportUrlOf(ignition)
  const response = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(report),
  })
  await response.body.dump()
  return response.statusCode
}

function reportUrlOf(ignition: string): string {
  const { storage } = JSON.parse(ignition) as {
    storage?: { files?: readonly { path: string; contents?: { source?: string } }[] }
  }
  const source = storage?.files?.find(({ path }) => path === reportUrlFile)?.contents?.source
  if (source === undefined) throw new Error(`the config has no ${reportUrlFile}`)
  return Buffer.from(source.replace(/^data:;base64,/, ''), 'base64')
    .toString()
    .trim()
}
