import { readdirSync, readFileSync } from 'node:fs'

/** What Linux counts CPU time in, in `/proc/<pid>/stat`. */
const ticksPerSecond = 100

/**
 * User and system CPU time of a process and its children, in seconds; `undefined` where there is no `/proc`. Counted
 * by the scheduler: ticks miss what runs in short bursts between them, as a server of slow clients does.
 */
export function cpuSecondsOf(pid) {
  let seconds = scheduledSecondsOf(pid) ?? tickedSecondsOf(pid)
  if (seconds === undefined) return undefined
  for (const child of childrenOf(pid)) seconds += cpuSecondsOf(child) ?? 0
  return seconds
}

/** Of all threads that still run; `undefined` where the kernel does not say. */
function scheduledSecondsOf(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const nanoseconds = threads.map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
    )
    return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e9
  } catch {
    return undefined
  }
}

function tickedSecondsOf(pid) {
  const fields = statOf(pid)
  return fields && (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Resident set of a process and its children, in bytes. */
export function rssBytesOf(pid) {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    let bytes = Number(kilobytes) * 1024
    for (const child of childrenOf(pid)) bytes += rssBytesOf(child) ?? 0
    return bytes
  } catch {
    return undefined
  }
}

/** Samples a resident set until it is stopped; tells the highest. */
export function watchRss(pid) {
  let peak = rssBytesOf(pid) ?? Number.NaN
  const sampling = setInterval(() => {
    peak = Math.max(peak, rssBytesOf(pid) ?? 0)
  }, 50)
  return {
    stop() {
      clearInterval(sampling)
      return peak
    },
  }
}

/** Fields after the name of the program, which may itself hold blanks. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function childrenOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
    )
  } catch {
    return []
  }
}

export function median(values) {
  const known = values.filter((value) => Number.isFinite(value)).toSorted((a, b) => a - b)
  if (known.length === 0) return Number.NaN
  const middle = known.length >> 1
  return known.length % 2 === 1 ? known[middle] : (known[middle - 1] + known[middle]) / 2
}

/** `1.23 [1.02-1.44]`: the median, and how far the rounds were apart. */
export function spread(values, digits = 2) {
  const known = values.filter((value) => Number.isFinite(value))
  if (known.length === 0) return '-'
  const text = (value) => value.toFixed(digits)
  return `${text(median(known))} [${text(Math.min(...known))}-${text(Math.max(...known))}]`
}

/** Ratios of the same rounds, so that they hold although the machine's speed drifts from round to round. */
export function ratios(own, peer) {
  return own.map((value, round) => value / peer[round])
}

/** A table that reads well in a terminal and in Markdown. */
export function table(columns, rows) {
  const cells = [columns, ...rows].map((row) => row.map(String))
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index].length)))
  const line = (row) => `| ${row.map((cell, index) => cell.padEnd(widths[index])).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n')
}
