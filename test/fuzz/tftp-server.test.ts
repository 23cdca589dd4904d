import { afterEach, describe, expect, it } from 'vitest'
import { bindSocket, readByTftp } from '../fakes/tftp-client.ts'
import { patterned, type ServiceUnderTest, sha256, startService } from '../fakes/tftp-service.ts'
import { mutatedDatagram, seededRandom } from './tftp-corpus.ts'

const seconds = process.env.SOAK !== undefined ? 600 : process.env.CI !== undefined ? 15 : 3

let service: ServiceUnderTest | undefined
afterEach(async () => {
  await service?.server.stop()
  service = undefined
})

describe.each(['each', 'single'] as const)('hostile datagrams at a server, ports %s', (mode) => {
  it(`for ${seconds} s beside 20 honest clients: none of them fails`, {
    timeout: seconds * 1000 + 60_000,
  }, async () => {
    const loader = patterned(200_000)
    const right = sha256(loader)
    service = await startService(
      { 'ipxe.efi': loader, x: loader, 'autoexec.ipxe': '#!ipxe\n' },
      { ports: { mode }, mtuOf: () => 1500, limits: { total: 200, perClient: 100 } },
    )
    const from = service
    const random = seededRandom(seconds)
    const deadline = Date.now() + seconds * 1000
    let hostile = 0
    let answers = 0

    async function attack(socketNumber: number): Promise<void> {
      while (Date.now() < deadline) {
        // A new port now and then: requests from many ports, most of them never followed by anything.
        const socket = await bindSocket(`127.0.0.${20 + socketNumber}`)
        socket.on('message', () => {
          answers += 1
        })
        socket.on('error', () => {})
        for (let count = 0; count < 20 && Date.now() < deadline; count += 1) {
          socket.send(mutatedDatagram(random), from.port, from.address, () => {})
          hostile += 1
          if (count % 5 === 0) await new Promise((resolve) => setImmediate(resolve))
        }
        socket.close()
        // What the fakes remember is not what is measured.
        from.events.length = 0
        from.opened.length = 0
      }
    }

    const outcomes: string[] = []
    async function boot(number: number): Promise<void> {
      do {
        const result = await readByTftp({
          server: { address: from.address, port: from.port },
          name: 'ipxe.efi',
          localAddress: `127.0.0.${100 + number}`,
          options: { tsize: 0, blksize: 1468, windowsize: 1 + (number % 8) },
        })
        outcomes.push(result.sha256 === right ? 'right' : `${result.outcome} ${result.error?.message ?? ''}`)
      } while (Date.now() < deadline)
    }

    const before = process.memoryUsage().rss
    await Promise.all([
      ...Array.from({ length: 4 }, (_, number) => attack(number)),
      ...Array.from({ length: 20 }, (_, number) => boot(number)),
    ])
    const grownMiB = (process.memoryUsage().rss - before) / 2 ** 20
    if (process.env.SOAK !== undefined) {
      console.log({
        mode,
        seconds,
        hostile,
        answers,
        honest: outcomes.length,
        grownMiB: Math.round(grownMiB),
      })
    }
    expect(outcomes.filter((outcome) => outcome !== 'right')).toEqual([])
    expect(outcomes.length).toBeGreaterThanOrEqual(20)
    expect(hostile).toBeGreaterThan(1_000)
    // The server, its clients and its enemies share this process; what grows without bound shows all the same.
    expect(grownMiB).toBeLessThan(250)
  })
})
