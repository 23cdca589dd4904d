import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect as connectTcp } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import type { AdminTls } from '../../../src/http/admin/access.ts'
import { renewCertificate } from '../../../src/http/admin/create-admin-app.ts'
import { createFakeAdminApp } from '../../fakes/admin-app.ts'
import { adminAuthorityFile, adminCertificate, type CertificateFiles } from '../../fakes/certificates.ts'

const first = adminCertificate('first')
const second = adminCertificate('second')
const client = adminCertificate('client')
const clientAuthority = readFileSync(adminAuthorityFile, 'utf8')
const opened: { close(): Promise<unknown> }[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((app) => app.close()))
})

async function listen(tls: AdminTls) {
  const { app } = createFakeAdminApp({ access: { host: '127.0.0.1', tls } })
  opened.push(app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, port: (app.server.address() as AddressInfo).port }
}

/** One connection; `ask` sends a request on it and resolves with its status line. */
async function dial(port: number, own?: CertificateFiles) {
  const socket = connect({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ...(own && { cert: own.certificate, key: own.key }),
  })
  await new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.once('error', reject)
  })
  return { socket, name: nameOf(socket), ask: () => askOn(socket) }
}

function nameOf(socket: TLSSocket): string | undefined {
  const { CN } = socket.getPeerCertificate().subject
  return Array.isArray(CN) ? CN[0] : CN
}

function askOn(socket: TLSSocket): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('data', (chunk) => resolve(chunk.toString().split('\r\n', 1)[0] ?? ''))
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('closed')))
    socket.write('GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  })
}

describe('the admin listener with TLS', () => {
  test('answers, and a renewed certificate is taken over without losing a connection', async () => {
    const { app, port } = await listen(first)
    const before = await dial(port)
    expect([before.name, await before.ask()]).toEqual(['first', 'HTTP/1.1 200 OK'])
    renewCertificate(app, second)
    const after = await dial(port)
    expect([after.name, await after.ask()]).toEqual(['second', 'HTTP/1.1 200 OK'])
    expect(await before.ask()).toBe('HTTP/1.1 200 OK')
    before.socket.destroy()
    after.socket.destroy()
  })

  test('files that do not fit change nothing', async () => {
    const { app, port } = await listen(first)
    expect(() => renewCertificate(app, { certificate: first.certificate, key: second.key })).toThrow(
      /mismatch/,
    )
    const { name, ask, socket } = await dial(port)
    expect([name, await ask()]).toEqual(['first', 'HTTP/1.1 200 OK'])
    socket.destroy()
  })

  test('with an authority for clients, one without a certificate or with a strange one is not let in', async () => {
    const { app, port } = await listen({ ...first, clientAuthority })
    const refused = async (own?: CertificateFiles) => (await dial(port, own)).ask()
    await expect(refused()).rejects.toThrow()
    await expect(refused(second)).rejects.toThrow()
    const known = await dial(port, client)
    expect(await known.ask()).toBe('HTTP/1.1 200 OK')
    known.socket.destroy()
    renewCertificate(app, { ...second, clientAuthority })
    await expect(refused()).rejects.toThrow()
  })

  test('plain HTTP on its port gets no answer, and the listener goes on', async () => {
    const { port } = await listen(first)
    const text = await new Promise<string>((resolve) => {
      let received = ''
      const socket = connectTcp(port, '127.0.0.1', () => socket.write('GET /livez HTTP/1.1\r\n\r\n'))
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1')
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(received))
    })
    expect(text).not.toContain('200 OK')
    const { ask, socket } = await dial(port)
    expect(await ask()).toBe('HTTP/1.1 200 OK')
    socket.destroy()
  })
})
