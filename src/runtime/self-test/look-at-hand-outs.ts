import type { LoadedConfig } from '../../config/load-config.ts'
import type { CatalogSource } from '../../core/catalog.ts'
import type { Inventory } from '../../core/host.ts'
import { formatIpv4 } from '../../core/ipv4.ts'
import type { LoaderSource } from '../../core/loader.ts'
import type { InterfaceAddresses } from '../../dhcp/interface-addresses.ts'
import { checkFetches, type FetchFacts } from '../../doctor/check-fetches.ts'
import { checkLoaders } from '../../doctor/check-loaders.ts'
import type { Finding } from '../../doctor/finding.ts'
import { firstLoaders } from '../../loaders/loader-names.ts'
import type { TftpFetch, TftpQuestion } from '../clients/fetch-by-tftp.ts'
import {
  announcedAddresses,
  chosenLoaders,
  shimsOfStreams,
  type WantedFetch,
  wantedFetches,
} from '../doctor/hand-outs.ts'
import type { KernelCheck } from './kernel-check.ts'

export interface HandOutsLook {
  readonly loaded: () => Pick<LoadedConfig, 'config'>
  /** What files and admins say now. */
  readonly inventory: () => Inventory
  readonly loaders: LoaderSource
  readonly catalog: CatalogSource
  readonly listAddresses: () => InterfaceAddresses
  readonly fetch: (question: TftpQuestion) => Promise<TftpFetch>
  readonly kernels: KernelCheck
}

/**
 * What machines would be told to fetch against what is there: a loader for each kind of firmware of the streams, every
 * loader that somebody chose, a kernel that its loader set starts, and TFTP answering from the address that it was
 * asked at (field case 50).
 */
export async function lookAtHandOuts(look: HandOutsLook): Promise<readonly Finding[]> {
  const { config } = look.loaded()
  const { dhcp, tftp } = config.boot
  if (dhcp === undefined && tftp === undefined) return []
  const catalogue = look.loaders.current()
  const chosen = [
    ...chosenLoaders(look.inventory()),
    ...shimsOfStreams(config).map((name) => ({ name, by: 'a stream with this loaderSet' })),
  ]
  const architectures = [...new Set([...config.streams.values()].flatMap((stream) => stream.architectures))]
  const byInterface = new Map(
    [...look.listAddresses()].map(([name, all]) => [name, all.map(formatIpv4)] as const),
  )
  const own = [...byInterface.values()].flat()
  const wanted = wantedFetches({
    config,
    catalogue,
    chosen: chosen.map(({ name }) => name),
    addresses: announcedAddresses(config, byInterface).filter((address) => own.includes(address)),
  })
  const sizes = new Map([...catalogue.loaders.values()].map(({ name, sizeBytes }) => [name, sizeBytes]))
  return [
    ...checkLoaders({ catalogue, firstLoaders, chosen }, { architectures, handsOut: true }),
    ...(await look.kernels.problems(catalogue, config.streams, look.catalog.current())),
    ...checkFetches(await lookByTftp(wanted, own, sizes, look.fetch), {
      isRunning: true,
      isDhcpOn: dhcp !== undefined,
      isTftpOn: tftp !== undefined,
    }),
  ]
}

/** One look at each address: from the address itself, and from another one of this machine where there is one. */
async function lookByTftp(
  wanted: readonly WantedFetch[],
  own: readonly string[],
  sizes: ReadonlyMap<string, number>,
  fetch: HandOutsLook['fetch'],
): Promise<readonly FetchFacts[]> {
  const firstOf = new Map<string, WantedFetch>()
  for (const each of wanted) {
    // A loader: a configuration is made for whoever asks, and we are no machine.
    const isLoader = each.via === 'tftp' && each.sha256 !== undefined
    if (isLoader && !firstOf.has(each.address)) firstOf.set(each.address, each)
  }
  const facts: FetchFacts[] = []
  for (const { address, port, target } of firstOf.values()) {
    const other = own.find((each) => each !== address && !each.startsWith('127.'))
    for (const asker of other === undefined ? [undefined] : [undefined, other]) {
      const answer = await fetch({
        address,
        port,
        name: target,
        isLook: true,
        ...(asker === undefined ? {} : { fromAddress: asker }),
      })
      facts.push({ via: 'tftp', target, address, outcome: outcomeOf(answer, sizes.get(target), asker) })
    }
  }
  return facts
}

function outcomeOf(
  answer: TftpFetch,
  sizeBytes: number | undefined,
  asker: string | undefined,
): FetchFacts['outcome'] {
  switch (answer.kind) {
    case 'fetched':
      return { kind: 'fetched', sizeBytes: answer.bytes.length, milliseconds: answer.milliseconds }
    case 'announced':
      return sizeBytes === undefined || answer.sizeBytes === sizeBytes
        ? { kind: 'fetched', sizeBytes: answer.sizeBytes ?? 0, milliseconds: 0 }
        : { kind: 'refused', reason: `announced ${answer.sizeBytes} bytes of ${sizeBytes}` }
    case 'refused':
      return { kind: 'refused', reason: `refused: ${answer.message}` }
    case 'other-source':
      return { kind: 'other-source', from: answer.address, ...(asker === undefined ? {} : { asker }) }
    case 'silent':
    case 'failed':
      return answer
  }
}
