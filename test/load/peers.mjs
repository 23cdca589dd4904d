import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/**
 * Servers to compare with, each a process of its own that serves one file and one text: nginx (one worker, sendfile)
 * and Go's net/http where they are installed, and what a few lines of Node do.
 */
export async function startPeers({ directory, file, text }) {
  const root = join(directory, 'peers')
  mkdirSync(root, { recursive: true })
  const files = { root, file: join(root, 'file'), text: join(root, 'text') }
  copyFileSync(file, files.file)
  writeFileSync(files.text, text)
  const peers = []
  for (const start of [startNginx, startGo, startNode]) {
    const peer = await start(files)
    if (peer === undefined) continue
    await answers(peer)
    peers.push(peer)
  }
  return peers
}

const nginxProgram = 'nginx'
const goProgram = 'go'

async function startNginx({ root }) {
  if (spawnSync(nginxProgram, ['-v'], { env: withSystemPrograms() }).status !== 0) return undefined
  const port = await freePort()
  const scratch = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${root}/${name};`)
    .join(' ')
  const config = join(root, 'nginx.conf')
  // Started by root it would give up its rights, and with them the way into our directory.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    config,
    `${user} daemon off; pid ${root}/nginx.pid; error_log stderr; worker_processes 1; events { worker_connections 4096; }
    http {
      access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; open_file_cache max=10;
      keepalive_timeout 75; keepalive_requests 100000000; ${scratch}
      server { listen 127.0.0.1:${port}; root ${root}; }
    }\n`,
  )
  return peer('nginx', port, nginxProgram, ['-p', root, '-c', config])
}

async function startGo({ root, file, text }) {
  const program = join(root, 'peer-go')
  const source = fileURLToPath(new URL('peer.go', import.meta.url))
  const env = { ...process.env, GO111MODULE: 'off', GOFLAGS: '' }
  if (spawnSync(goProgram, ['build', '-o', program, source], { env }).status !== 0) return undefined
  const port = await freePort()
  return peer('go net/http', port, program, [`127.0.0.1:${port}`, file, text])
}

async function startNode({ file, text }) {
  const port = await freePort()
  const script = fileURLToPath(new URL('node-peer.mjs', import.meta.url))
  return peer('node:http', port, process.execPath, [script, String(port), file, text])
}

function peer(name, port, program, argv) {
  const child = spawn(program, argv, { stdio: 'ignore', env: withSystemPrograms() })
  const origin = `http://127.0.0.1:${port}`
  return {
    name,
    pid: child.pid,
    origin,
    filePath: '/file',
    textPaths: ['/text'],
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Debian keeps servers where only root's shell looks. */
function withSystemPrograms() {
  return { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` }
}

async function answers({ name, origin, textPaths }) {
  for (let tries = 0; tries < 250; tries += 1) {
    const response = await fetch(origin + textPaths[0]).catch(() => undefined)
    await response?.arrayBuffer()
    if (response?.ok) return
    await sleep(20)
  }
  throw new Error(`${name} does not answer at ${origin}`)
}

export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}
