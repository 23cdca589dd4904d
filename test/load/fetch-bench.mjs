import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createFetcher } from '../../dist/artifacts/create-fetcher.js'

/**
 * Fetch + sha256 + write against `curl | tee | openssl dgst` on the same server, file and storage, round by round.
 * Ratios are what counts: on a busy machine three processes get three shares of it, and one gets one.
 *
 * Returns `{ name, value, unit, target }` rows; `print` gets a line a round.
 */
export async function benchFetch({ rounds = 5, sizeBytes = 800 * 2 ** 20, print = () => {} } = {}) {
  const directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'pilotlight-fetch-'))
  // The server may give up its rights before it reads.
  chmodSync(directory, 0o755)
  const { file, sha256 } = writeSample(directory, sizeBytes)
  const server = await startServer(directory, file)
  const results = []
  try {
    for (let round = 0; round < rounds; round += 1) {
      const peer = runPeer(server.url, directory, sha256)
      const own = await runOwn(server, directory, sha256)
      results.push({
        ...own,
        peer: sizeBytes / peer / 1e9,
        own: sizeBytes / own.seconds / 1e9,
        ratio: peer / own.seconds,
      })
      const last = results.at(-1)
      print(
        `fetch round ${round + 1}: pilotlight ${last.own.toFixed(2)} GB/s, curl|tee|openssl ${last.peer.toFixed(2)} GB/s, ` +
          `ratio ${last.ratio.toFixed(2)}, ${(last.cpuSeconds / (sizeBytes / 1e9)).toFixed(2)} CPU-s/GB, RSS +${last.rssGrowthMiB} MiB`,
      )
    }
  } finally {
    server.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  const median = (key) =>
    results.map((result) => result[key]).toSorted((a, b) => a - b)[Math.floor(rounds / 2)]
  return [
    {
      name: 'fetch + sha256 + write, GB/s against curl | tee | openssl dgst',
      value: median('ratio'),
      unit: 'ratio',
      target: '>= 1.1',
    },
    {
      name: 'RSS growth while it is fetched, thread included',
      value: median('rssGrowthMiB'),
      unit: 'MiB',
      target: '< 64',
    },
  ]
}

function writeSample(directory, sizeBytes) {
  const file = join(directory, 'sample.img')
  const hash = createHash('sha256')
  const block = randomBytes(1 << 20)
  const output = openSync(file, 'w')
  for (let written = 0; written < sizeBytes; written += block.length) {
    block.writeUInt32LE(written / block.length, 0)
    hash.update(block)
    writeSync(output, block)
  }
  closeSync(output)
  return { file, sha256: hash.digest('hex') }
}

const nginx = 'nginx'

/** nginx where there is one, as the published figures were made with; else a few lines of Node. */
async function startServer(directory, file) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/sample.img`
  const config = join(directory, 'nginx.conf')
  const scratch = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${directory}/${name};`)
    .join(' ')
  writeFileSync(
    config,
    `daemon off; pid ${directory}/nginx.pid; error_log stderr; worker_processes 1; events {}\n` +
      `http { access_log off; sendfile on; ${scratch} server { listen 127.0.0.1:${port}; root ${directory}; } }\n`,
  )
  const hasNginx = spawnSync(nginx, ['-v']).status === 0
  const child = hasNginx
    ? spawn(nginx, ['-p', directory, '-c', config], { stdio: 'ignore' })
    : spawn(process.execPath, [
        fileURLToPath(new URL('node-peer.mjs', import.meta.url)),
        String(port),
        file,
        config,
      ])
  for (let tries = 0; tries < 200; tries += 1) {
    if (
      await fetch(url, { method: 'HEAD' }).then(
        () => true,
        () => false,
      )
    )
      break
    await sleep(20)
  }
  return { url, origin: new URL(url).origin, stop: () => child.kill('SIGTERM') }
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

function runPeer(url, directory, sha256) {
  const target = join(directory, 'peer.img')
  const startedAt = performance.now()
  const output = execFileSync('sh', ['-c', `curl -s '${url}' | tee '${target}' | openssl dgst -sha256`], {
    encoding: 'utf8',
  })
  const seconds = (performance.now() - startedAt) / 1000
  if (!output.includes(sha256)) throw new Error(`the peer got something else: ${output}`)
  rmSync(target)
  return seconds
}

async function runOwn({ url, origin }, directory, sha256) {
  const dataDirectory = mkdtempSync(join(directory, 'data-'))
  const fetcher = createFetcher({
    dataDirectory,
    upstream: { allowedOrigins: [origin] },
    trustedKeys: [],
    reserveBytes: 0,
  })
  const rssBefore = process.memoryUsage.rss()
  let rssPeak = rssBefore
  const sampling = setInterval(() => {
    rssPeak = Math.max(rssPeak, process.memoryUsage.rss())
  }, 20)
  // In a service the thread runs already: it fetched the metadata's other files before.
  await fetcher.hash(sha256)
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const artifact = { role: 'rootfs', name: 'sample.img', sha256, location: url }
  await fetcher.fetch({ artifact, mirrors: [], signatures: 'off' })
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  clearInterval(sampling)
  await fetcher.stop()
  rmSync(dataDirectory, { recursive: true, force: true })
  return {
    seconds,
    cpuSeconds: (user + system) / 1e6,
    rssGrowthMiB: Math.round((rssPeak - rssBefore) / 2 ** 20),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rows = await benchFetch({ print: (line) => console.log(line) })
  for (const { name, value, unit, target } of rows)
    console.log(`${name}: ${value.toFixed(2)} ${unit} (target ${target})`)
}
