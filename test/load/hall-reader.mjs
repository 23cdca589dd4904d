import { get } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * Somebody who follows the events, and a page that is open: it asks for the rows that moved at most twice a second, and
 * for all of itself every two seconds, as its script does. Told to stop, it tells when it heard what.
 */
const { socketPath, adminUrl, secret, shownKeys } = workerData
const askedMostMs = 500
const viewEveryMs = 2_000
const arrivals = []
const rows = []
const views = []
let viewBytes = 0
let moved = new Set()
let isOver = false

const stream = await new Promise((resolve, reject) => {
  get({ socketPath, path: '/api/v1/events?types=boot' }, resolve).on('error', reject)
})
let text = ''
stream.setEncoding('utf8').on('data', (chunk) => {
  const at = Date.now()
  const blocks = (text + chunk).split('\n\n')
  text = blocks.pop()
  for (const block of blocks) {
    const data = /^data: (.*)$/m.exec(block)?.[1]
    if (data === undefined || !block.includes('event: boot')) continue
    const boot = JSON.parse(data)
    arrivals.push({ at, bootId: boot.bootId, lastAt: Date.parse(boot.lastAt) })
    moved.add(boot.host)
  }
})

const login = await fetch(`${adminUrl}/login`, {
  method: 'POST',
  redirect: 'manual',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams({ token: secret, next: '/' }),
})
const cookie = login.headers.get('set-cookie').split(';')[0]

async function ask(path, into) {
  const startedAt = performance.now()
  const response = await fetch(adminUrl + path, { headers: { cookie, 'pilotlight-part': '1' } })
  const body = await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
  into.push(performance.now() - startedAt)
  return body.byteLength
}

async function look() {
  let viewedAt = Number.NEGATIVE_INFINITY
  while (!isOver) {
    const startedAt = performance.now()
    const keys = [...moved].slice(0, shownKeys)
    moved = new Set()
    if (keys.length > 0) await ask(`/rows?${new URLSearchParams(keys.map((key) => ['keys', key]))}`, rows)
    if (startedAt - viewedAt >= viewEveryMs) {
      viewedAt = startedAt
      viewBytes = Math.max(viewBytes, await ask('/', views))
    }
    await new Promise((resolve) =>
      setTimeout(resolve, Math.max(0, startedAt + askedMostMs - performance.now())),
    )
  }
}

parentPort.postMessage('ready')
const looking = look()
parentPort.once('message', async () => {
  isOver = true
  await looking
  stream.destroy()
  parentPort.postMessage({ arrivals, rows, views, viewBytes })
})
