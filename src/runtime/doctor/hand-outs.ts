import type { Config } from '../../config/config.ts'
import type { Sha256 } from '../../core/digest.ts'
import type { Inventory } from '../../core/host.ts'
import { findLoader, type LoaderCatalogue } from '../../core/loader.ts'
import { clientArchitecture } from '../../dhcp/client-architecture.ts'
import { chooseHandOut, defaultLoaderFiles, type HandOut, targetOf } from '../../dhcp/loader-ladder.ts'
import type { PxeClient } from '../../dhcp/pxe-client.ts'
import type { ChosenLoader } from '../../doctor/check-loaders.ts'
import { baseUrl } from '../../http/boot/base-url.ts'
import { secureBootPairs } from '../../loaders/loader-names.ts'

/** A string that DHCP hands out, and what it must bring. */
export interface WantedFetch {
  readonly via: 'tftp' | 'http'
  /** The file name, or the URL. */
  readonly target: string
  /** Of ours; the one that is handed out with it. */
  readonly address: string
  readonly port: number
  /** Absent: a script, which is made for whoever asks. */
  readonly sha256?: Sha256
}

/** Option 93 of everything that starts a loader of ours, by PXE and by HTTP Boot (field cases, decision table). */
const architectureCodes = [0, 6, 7, 10, 11, 27, 39, 15, 16, 18, 19, 28, 40] as const

/**
 * Firmware that is a loader itself and gets a PXELINUX configuration: petitboot, U-Boot of 32 and of 64 bits. Only a DHCP
 * server answers these, because they do not call themselves PXE clients.
 */
const configurationCodes = [14, 21, 22] as const

/** Loaders that hosts, groups and profiles ask for by name. */
export function chosenLoaders({ hostsById, groups, profiles }: Inventory): readonly ChosenLoader[] {
  const named = [
    ...[...profiles.values()].map(({ loader, name }) => ({ loader, by: `profile ${name}` })),
    ...groups.map(({ loader, name }) => ({ loader, by: `group ${name}` })),
    ...[...hostsById.values()].map(({ loader, id }) => ({ loader, by: `host ${id}` })),
  ]
  return named.flatMap(({ loader, by }) => (loader === undefined ? [] : [{ name: loader, by }]))
}

/** What machines of a stream with a loader set start under Secure Boot. */
export function shimsOfStreams({ streams }: Pick<Config, 'streams'>): readonly string[] {
  return [...streams.values()].flatMap(({ loaderSet, architectures }) =>
    loaderSet === undefined
      ? []
      : secureBootPairs
          .filter(({ arch }) => architectures.includes(arch))
          .map(({ shim }) => `${loaderSet}/${shim}`),
  )
}

export interface HandOutsOptions {
  readonly config: Config
  readonly catalogue: LoaderCatalogue
  /** Loader names besides the usual ones. */
  readonly chosen: readonly string[]
  /** Of ours, those that machines are sent to. */
  readonly addresses: readonly string[]
}

/**
 * Every string that DHCP would hand out with each address, made by the ladder itself. Loaders that are not there are
 * left out; of ports that the system chooses nobody knows anything.
 */
export function wantedFetches({
  config,
  catalogue,
  chosen,
  addresses,
}: HandOutsOptions): readonly WantedFetch[] {
  const wanted = new Map<string, WantedFetch>()
  for (const address of addresses) {
    for (const handOut of handOutsAt(address, config, chosen)) {
      const fetch = fetchOf(handOut, address, config, catalogue)
      if (fetch !== undefined) wanted.set(`${fetch.via} ${address} ${fetch.target}`, fetch)
    }
  }
  return [...wanted.values()]
}

function handOutsAt(address: string, config: Config, chosen: readonly string[]): readonly HandOut[] {
  const { boot } = config
  const url = baseUrl(boot.address ?? {}, { localAddress: address, localPort: boot.http.listen.port })
  const ladder = { baseUrl: url, loaders: defaultLoaderFiles }
  const firmware = architectureCodes.flatMap((code) => {
    const client = clientOf(code)
    if (client === undefined) return []
    return [undefined, ...chosen].map((loader) =>
      chooseHandOut(client, { kind: 'live', ...(loader === undefined ? {} : { loader }) }, ladder),
    )
  })
  const configurations = configurationClients(config).map((client) =>
    chooseHandOut(client, { kind: 'live' }, ladder),
  )
  return [...firmware, ...configurations, { kind: 'script', url: `${url}/boot.ipxe` }]
}

/** Where strangers get a 404 by choice, the configuration for everybody is not there, and that is no fault. */
function configurationClients({ boot, streams }: Config): readonly PxeClient[] {
  if (boot.dhcp?.mode !== 'server' || boot.http.ignoredMachines === 'http-404') return []
  const followed = new Set([...streams.values()].flatMap(({ architectures }) => architectures))
  return configurationCodes
    .flatMap((code) => clientOf(code) ?? [])
    .filter(({ arch }) => arch !== undefined && followed.has(arch))
}

function clientOf(code: number): PxeClient | undefined {
  const architecture = clientArchitecture(code)
  if (architecture === undefined) return undefined
  const bootClass = architecture.fetch === 'http' ? 'HTTPClient' : 'PXEClient'
  return {
    ...architecture,
    macs: [],
    loader: 'none',
    bootClass,
    architectureCode: code,
    features: [],
    mismatch: undefined,
  }
}

function fetchOf(
  handOut: HandOut,
  address: string,
  { boot }: Config,
  catalogue: LoaderCatalogue,
): WantedFetch | undefined {
  if (handOut.kind === 'file') {
    const sha256 = findLoader(catalogue, handOut.file.split('/'))?.sha256
    const port = boot.tftp?.listen.port ?? 0
    if (sha256 === undefined || port === 0) return undefined
    return { via: 'tftp', target: handOut.file, address, port, sha256 }
  }
  if (handOut.kind === 'config' && !handOut.file.includes('://')) {
    const port = boot.tftp?.listen.port ?? 0
    return port === 0 ? undefined : { via: 'tftp', target: handOut.file, address, port }
  }
  const target = targetOf(handOut)
  if (target === undefined) return undefined
  const port = boot.address?.port ?? boot.http.listen.port
  if (port === 0) return undefined
  const common = { via: 'http', target, address, port } as const
  if (handOut.kind !== 'url') return common
  const name = target.split('/loaders/').at(-1) ?? ''
  const sha256 = findLoader(catalogue, name.split('/'))?.sha256
  return sha256 === undefined ? undefined : { ...common, sha256 }
}

/**
 * The addresses that machines are sent to: those of the DHCP interfaces, as DHCP announces them; without any, the boot
 * address, the one that is listened on, or every one that is not loopback.
 */
export function announcedAddresses(
  { boot }: Config,
  byInterface: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const wires = (boot.dhcp?.interfaces ?? []).flatMap((device) => {
    const addresses = byInterface.get(device) ?? []
    return addresses.find((address) => address === boot.address?.address) ?? addresses[0] ?? []
  })
  if (wires.length > 0) return [...new Set(wires)]
  if (boot.address !== undefined) return [boot.address.address]
  const { host } = boot.http.listen
  if (host !== undefined && host !== '0.0.0.0' && host !== '::') return [host]
  return [...byInterface.values()].flat().filter((address) => !address.startsWith('127.'))
}
