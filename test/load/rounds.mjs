import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cpuSecondsOf } from './measure.mjs'

const run = promisify(execFile)

/** Runs a client in a process of its own against a server; what it printed, and the CPU time that the server took. */
export async function measureClient(server, client, argv) {
  const script = fileURLToPath(new URL(client, import.meta.url))
  const before = cpuSecondsOf(server.pid)
  const { stdout, stderr } = await run(process.execPath, [script, ...argv.map(String)], {
    maxBuffer: 1 << 24,
  })
  const serverCpuSeconds = cpuSecondsOf(server.pid) - before
  const result = JSON.parse(stdout)
  if (result.failed > 0) process.stderr.write(`${server.name}: ${result.failed} failed\n${stderr}`)
  return { ...result, serverCpuSeconds }
}

/**
 * Measures servers in turn, A B C, A B C, so that a ratio holds when the machine's speed drifts.
 * @returns for each server, in their order, the results of its rounds
 */
export async function measureInTurn(servers, rounds, measure) {
  const results = servers.map(() => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, server] of servers.entries()) results[index].push(await measure(server))
  }
  return results
}
