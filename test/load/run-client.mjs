import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Runs a client of this folder at the other end of a server's wire; what it prints, parsed. */
export async function runClient({ wire, name }, client, argv, withinMs = 60_000) {
  const script = fileURLToPath(new URL(client, import.meta.url))
  const [command, ...words] = wire.client([process.execPath, script, ...argv.map(String)])
  const { stdout, stderr } = await run(command, words, { timeout: withinMs })
  if (stderr !== '') process.stderr.write(`${name}: ${stderr}\n`)
  return JSON.parse(stdout)
}
