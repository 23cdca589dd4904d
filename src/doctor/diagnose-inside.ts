import type { Config } from '../config/config.ts'
import { checkBoots, type PatternFacts } from './check-boots.ts'
import { checkClock } from './check-clock.ts'
import { checkDataDirectory, type DataDirectoryFacts } from './check-data-directory.ts'
import { checkDisk, type DiskFacts } from './check-disk.ts'
import { checkAnyStream, checkFollowed, type FollowedFacts } from './check-followed.ts'
import { type AddressFacts, checkInterfaces } from './check-interfaces.ts'
import { checkService, type PartFacts } from './check-service.ts'
import { interfacesWanted } from './diagnose.ts'
import { type Finding, findingsOf } from './finding.ts'

/** What a running service can see of itself without asking anybody and without waiting. */
export interface InsideFacts {
  readonly pid: number
  readonly parts: readonly PartFacts[]
  readonly patterns: readonly PatternFacts[]
  readonly addresses: AddressFacts
  readonly streams: readonly FollowedFacts[]
  /** Absent when it cannot be measured. */
  readonly disk?: DiskFacts
  readonly dataDirectory: DataDirectoryFacts
  /** Ms since the epoch. */
  readonly now: number
}

const fetches = findingsOf('fetch')
const rights = findingsOf('rights')

/** The findings of a service about itself, in the order of `checkNames`. Pure. */
export function diagnoseInside(config: Config, facts: InsideFacts): readonly Finding[] {
  const { pid, parts, streams } = facts
  const service = { state: 'running', pid, parts, servedStreams: [] } as const
  const followed = streams.reduce((sum, { architectures }) => sum + architectures.length, 0)
  return [
    ...checkService(service, config.dataDir),
    ...checkBoots(facts.patterns),
    rights.note(
      'ports, rights, other DHCP servers and upstreams are looked at by the command alone',
      'run it on the machine of the service: sudo pilotlight doctor',
    ),
    ...checkInterfaces(facts.addresses, interfacesWanted(config)),
    ...selfTest(parts),
    ...checkAnyStream([...config.streams.keys()]),
    ...checkFollowed(streams),
    ...checkDisk(facts.disk, { followed }),
    ...checkClock({ now: facts.now, serverTimes: [] }),
    ...checkDataDirectory(facts.dataDirectory, service),
  ]
}

/** What DHCP hands out against what is served, as the service looked at it after each change. */
function selfTest(parts: readonly PartFacts[]): readonly Finding[] {
  const part = parts.find((candidate) => candidate.part === 'self-test')
  if (part === undefined) return []
  if (part.reason === undefined) return [fetches.ok('everything that machines are told to fetch is there')]
  return [
    fetches.warning(part.reason, 'see which loaders are missing and what supplies them: pilotlight loaders'),
  ]
}
