// @ts-check
// Keeps a page that was rendered by the server up to date: follows what moves, asks for the parts that changed, and
// puts them in place. Without it every link and form works all the same.

/** @typedef {{ types: string[], keys: string[] }} Moved */

const root = document.documentElement
const live = /** @type {HTMLElement} */ (document.getElementById('live'))
const news = /** @type {HTMLElement} */ (document.getElementById('news'))
/** How far the clock of the service is before ours. */
const clockAhead = Date.parse(root.dataset.now ?? '') - Date.now() || 0
/** A page is asked for at most so often. */
const quickMs = 500
const slowMs = { view: 1000, rows: 2000, boots: 2000, events: 1000, doctor: 5000 }

const moved = { keys: new Set(), types: new Set(), all: false }
let isAsking = false
let askedAt = 0
let listedAt = Date.now()
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer

/** The part of the page that moves; there is none where a form is filled in. */
const view = () => /** @type {HTMLElement | null} */ (document.querySelector('[data-live]'))

// ---- the connection

/** @type {EventSource | undefined} */
let source
/** @type {number | undefined} */
let lostAt
/** Where a connection that was given up begins again. */
let lastEvent = root.dataset.lastEvent ?? ''

function follow() {
  if (document.hidden || source?.readyState === EventSource.OPEN) return
  source = new EventSource(`/live?${new URLSearchParams({ after: lastEvent })}`)
  source.addEventListener('open', () => {
    lostAt = undefined
    tell('Live', 'on')
  })
  source.addEventListener('moved', (event) => {
    lastEvent = event.lastEventId
    const { types, keys } = /** @type {Moved} */ (JSON.parse(event.data))
    for (const type of types) moved.types.add(type)
    for (const key of keys) moved.keys.add(key)
    plan()
  })
  source.addEventListener('gap', () => {
    moved.all = true
    plan()
  })
  source.addEventListener('error', () => {
    lostAt ??= Date.now()
    tell(`Connection lost since ${clockTime(lostAt)}, trying again`, 'off')
    if (source?.readyState !== EventSource.CLOSED) return
    // A session that is over is found out when the page asks for its parts.
    moved.all = true
    plan()
    setTimeout(follow, 5000)
  })
}

/** A browser has six connections for a site: pages that nobody looks at leave them to the others. */
function rest() {
  source?.close()
  source = undefined
}

/** @param {string} text @param {'on' | 'off'} state */
function tell(text, state) {
  if (live.textContent !== text) live.textContent = text
  live.dataset.state = state
  live.hidden = false
}

/** @param {number} at by our clock */
function clockTime(at) {
  return new Date(at + clockAhead).toISOString().slice(11, 19)
}

// ---- what to ask for, and when

/** Rows of the page, by their keys. */
function rows() {
  const all = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('#machine-rows > tr'))
  return new Map([...all].map((row) => [row.dataset.key ?? '', row]))
}

/** Whether anything that moved is on this page. @param {HTMLElement} shown */
function concerns(shown) {
  if (moved.all) return true
  if (shown.id === 'streams') return moved.types.has('stream')
  if (shown.id !== 'machine') return moved.types.size > 0
  const { host, macs = '' } = shown.dataset
  return (host !== undefined && moved.keys.has(host)) || macs.split(' ').some((mac) => moved.keys.has(mac))
}

/** @param {HTMLElement} shown */
function paceOf(shown) {
  return shown.id in slowMs ? slowMs[/** @type {keyof typeof slowMs} */ (shown.id)] : slowMs.view
}

function plan() {
  if (timer !== undefined || isAsking || document.hidden) return
  timer = setTimeout(() => void work(), Math.max(0, askedAt + quickMs - Date.now()))
}

async function work() {
  timer = undefined
  const shown = view()
  if (shown === null || isAsking) return
  isAsking = true
  askedAt = Date.now()
  try {
    if (shown.dataset.live === 'rows') await workOnRows()
    else await workOnView(shown)
  } catch {
    // The connection says so by itself; what was to be asked for is asked for again.
    moved.all = true
  } finally {
    isAsking = false
  }
  if (moved.all || moved.keys.size > 0 || moved.types.size > 0) {
    timer = setTimeout(() => void work(), quickMs)
  }
}

/** @param {HTMLElement} shown */
async function workOnView(shown) {
  if (!concerns(shown)) return forget()
  if (Date.now() - listedAt < paceOf(shown)) return
  forget()
  await askForView()
}

/** Rows that are on the page at once; others, and the order of all, a little later. */
async function workOnRows() {
  const here = rows()
  const keys = [...moved.keys].filter((key) => here.has(key))
  if (keys.length > 0 && !moved.all) {
    for (const key of keys) moved.keys.delete(key)
    const query = new URLSearchParams(location.search)
    for (const key of keys) query.append('keys', key)
    const part = await ask(`/rows?${query}`)
    if (part !== undefined) placeRows(part, here)
  }
  const isMoreToList = moved.all || moved.keys.size > 0 || moved.types.has('order')
  moved.types.delete('boot')
  moved.types.delete('stream')
  moved.types.delete('change')
  if (!isMoreToList || Date.now() - listedAt < slowMs.rows) return
  forget()
  await askForView()
}

function forget() {
  moved.keys.clear()
  moved.types.clear()
  moved.all = false
}

async function askForView() {
  listedAt = Date.now()
  const part = await ask(location.pathname + location.search)
  const from = document.getElementById('view')
  const to = part?.getElementById('view')
  if (from && to) place(() => morph(from, to))
}

/** @param {string} url @returns {Promise<Document | undefined>} */
async function ask(url) {
  const answer = await fetch(url, { headers: { 'pilotlight-part': '1' } })
  // The login is over, or what is shown is not there any more: the whole page says which.
  if (answer.status === 401 || answer.status === 404) location.reload()
  if (!answer.ok) return undefined
  return new DOMParser().parseFromString(await answer.text(), 'text/html')
}

// ---- putting it in place

/** @param {Document} part @param {Map<string, HTMLElement>} here */
function placeRows(part, here) {
  place(() => {
    for (const id of ['counts', 'needs']) {
      const from = document.getElementById(id)
      const to = part.getElementById(id)
      if (from && to) morph(from, to)
    }
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (part.querySelectorAll('tr[data-key]'))) {
      const from = here.get(row.dataset.key ?? '')
      if (from === undefined) continue
      // A machine in another state may belong to another place of the list.
      if (stateOf(from) !== stateOf(row)) moved.types.add('order')
      morph(from, row)
    }
  })
}

/** @param {HTMLElement} row */
function stateOf(row) {
  return row.querySelector('.state')?.textContent
}

/** Changes the page; focus stays where it is, and what matters is said aloud. @param {() => void} change */
function place(change) {
  const focused = document.activeElement
  const told = said()
  change()
  if (focused instanceof HTMLElement && focused !== document.activeElement && focused.isConnected) {
    focused.focus({ preventScroll: true })
  }
  const fresh = said().filter((text) => text !== '' && !told.includes(text))
  if (fresh.length > 0) news.textContent = fresh.join(' ')
  countAges()
}

function said() {
  return [...document.querySelectorAll('[data-news]')].map(({ textContent }) => textContent?.trim() ?? '')
}

/** Makes one node like another, changing as little as possible. @param {Node} from @param {Node} to */
function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName) {
    from.parentNode?.replaceChild(to, from)
    return
  }
  if (!(from instanceof Element) || !(to instanceof Element)) {
    if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue
    return
  }
  // What somebody types stays.
  if (from.nodeName === 'FORM' || from.isEqualNode(to)) return
  for (const { name } of [...from.attributes]) if (!to.hasAttribute(name)) from.removeAttribute(name)
  for (const { name, value } of to.attributes) {
    if (from.getAttribute(name) !== value) from.setAttribute(name, value)
  }
  morphChildren(from, to)
}

/** Children with an id or a key are found again wherever they are. @param {Element} from @param {Element} to */
function morphChildren(from, to) {
  const known = new Map([...from.children].map((child) => [keyOf(child), child]))
  known.delete('')
  let place = from.firstChild
  for (const child of [...to.childNodes]) {
    const key = keyOf(child)
    const same = key === '' ? unkeyed(place, child) : known.get(key)
    if (same === undefined) {
      from.insertBefore(child, place)
      continue
    }
    if (same === place) place = place.nextSibling
    else from.insertBefore(same, place)
    known.delete(key)
    morph(same, child)
  }
  while (place !== null) {
    const next = place.nextSibling
    place.remove()
    place = next
  }
}

/** @param {Node} node */
function keyOf(node) {
  if (!(node instanceof Element)) return ''
  return node.getAttribute('data-key') ?? node.id
}

/** @param {ChildNode | null} place @param {Node} wanted @returns {ChildNode | undefined} */
function unkeyed(place, wanted) {
  if (place === null || keyOf(place) !== '') return undefined
  return place.nodeType === wanted.nodeType && place.nodeName === wanted.nodeName ? place : undefined
}

// ---- ages

function countAges() {
  const now = Date.now() + clockAhead
  for (const time of /** @type {NodeListOf<HTMLTimeElement>} */ (
    document.querySelectorAll('time[data-age]')
  )) {
    const text = ageText(now - Date.parse(time.dateTime))
    if (time.textContent !== text) time.textContent = text
  }
}

/** The words of the server (`shown-duration.ts`). @param {number} ms */
function ageText(ms) {
  const seconds = Math.floor(Math.max(0, ms) / 1000)
  if (seconds < 2) return 'now'
  if (seconds < 60) return `${seconds} s ago`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} d ago`
}

setInterval(() => {
  if (document.hidden) return
  countAges()
  const shown = view()
  // The picture of a boot that goes on grows with the time.
  if (shown?.dataset.running !== undefined && Date.now() - listedAt >= 2000) {
    moved.all = true
    plan()
  }
}, 1000)
document.addEventListener('visibilitychange', () => {
  if (view() === null) return
  if (document.hidden) return rest()
  follow()
  plan()
})
addEventListener('pagehide', rest)
if (view() !== null) follow()
