import { spawnSync } from 'node:child_process'

/** iproute2's. */
const ipCommand = 'ip'

/** Why there can be no networks of our own here; `undefined` when there can. */
export function wiresProblem() {
  if (process.getuid?.() !== 0) return 'needs root, for network namespaces'
  const probe = `plb${process.pid}probe`
  const made = spawnSync(ipCommand, ['netns', 'add', probe])
  if (made.error !== undefined) return 'needs the ip command (package iproute2)'
  if (made.status !== 0) return 'network namespaces cannot be made here'
  spawnSync(ipCommand, ['netns', 'del', probe])
  return undefined
}

export const serverAddress = '198.18.0.1'
export const subnet = '198.18.0.0/20'
/** 3,800 addresses. */
export const firstAddress = '198.18.1.0'
export const lastAddress = '198.18.15.215'
const clientAddress = '198.18.0.2'
/** These addresses, and the few after them. */
const rangeParts = ['198.18.1.0/24', '198.18.2.0/23', '198.18.4.0/22', '198.18.8.0/21']

/**
 * A network of its own for each server: a cable with the server at one end and its client at the other, both called
 * `eth0`. Every network has the same addresses, so that every server has the same configuration.
 */
export function openWires(count) {
  const names = []
  const wires = Array.from({ length: count }, (_, index) => {
    const [server, client] = ['s', 'c'].map((end) => `plb${process.pid}${end}${index}`)
    for (const name of [server, client]) {
      ip('netns', 'add', name)
      names.push(name)
      ip('-n', name, 'link', 'set', 'lo', 'up')
    }
    ip('-n', server, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', client)
    for (const [name, address] of [
      [server, serverAddress],
      [client, clientAddress],
    ]) {
      ip('-n', name, 'addr', 'add', `${address}/20`, 'broadcast', '198.18.15.255', 'dev', 'eth0')
      ip('-n', name, 'link', 'set', 'eth0', 'up')
      ip('-n', name, 'route', 'add', 'default', 'dev', 'eth0')
    }
    return { server: (argv) => inside(server, argv), client: (argv) => inside(client, argv) }
  })
  return {
    wires,
    close() {
      for (const name of names) spawnSync(ipCommand, ['netns', 'del', name])
    },
  }
}

/**
 * Lets the client's end of a wire have every address of the range at once, so that each machine asks from the one it was
 * given. The server reaches all of them by one neighbour: kernels keep about a thousand.
 */
export function openRange({ server, client }) {
  for (const part of rangeParts) {
    run(client([ipCommand, 'route', 'add', 'local', part, 'dev', 'lo']))
    run(server([ipCommand, 'route', 'add', part, 'via', clientAddress, 'dev', 'eth0']))
  }
}

/** A command line that runs in a namespace, as the same process. */
function inside(name, argv) {
  return [ipCommand, 'netns', 'exec', name, ...argv]
}

function ip(...argv) {
  run([ipCommand, ...argv])
}

function run([command, ...argv]) {
  const { status, stderr } = spawnSync(command, argv, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${argv.join(' ')}: ${stderr}`)
}
