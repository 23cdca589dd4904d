import { cpuSecondsOf, spread } from './measure.mjs'
import { seedService } from './seed.mjs'
import { startService } from './service.mjs'

/** From the start of the process to `/readyz` with 200, with a full archive. */
export async function benchStart({ directory, rounds, report }) {
  const releases = 200
  const documents = 2_000
  const seeded = await seedService({ directory, releases, documents })
  const starts = []
  for (let round = 0; round < rounds; round += 1) {
    const service = await startService(seeded)
    starts.push({ seconds: service.readyMs / 1000, cpuSeconds: cpuSecondsOf(service.pid) })
    await service.stop()
  }
  const seconds = starts.map((start) => start.seconds)
  console.log(
    `\n${documents} documents, ${releases} bootimages: ready after ${spread(seconds)} s, ` +
      `of which the process computed ${spread(starts.map(({ cpuSeconds }) => cpuSeconds))} s`,
  )
  report.add('start with 2,000 documents and 200 bootimages to ready, s', { value: seconds, target: '< 2' })
}
