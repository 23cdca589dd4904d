import { createHash, randomBytes } from 'node:crypto'
import { request } from 'undici'
import { probeTrace } from '../../core/probe-mark.ts'
import { formatTraceparent } from '../../core/trace-context.ts'
import type { FetchFacts } from '../../doctor/check-fetches.ts'
import { fetchByTftp, type TftpFetch } from '../clients/fetch-by-tftp.ts'
import type { WantedFetch } from './hand-outs.ts'

type Outcome = FetchFacts['outcome']

const timeoutMs = 10_000

/**
 * Fetches each of them whole, one after the other. By TFTP the first name of each address is also asked for from another
 * address of this machine: a socket that is open on every address shows there which one it really answers from.
 */
export async function fetchHandOuts(
  wanted: readonly WantedFetch[],
  ownAddresses: readonly string[],
): Promise<readonly FetchFacts[]> {
  const facts: FetchFacts[] = []
  const askedFromElsewhere = new Set<string>()
  for (const { via, target, address, port, sha256 } of wanted) {
    const outcome =
      via === 'tftp'
        ? await byTftp({ address, port, name: target, isProbe: true }, sha256)
        : await byHttp(target, sha256)
    facts.push({ via, target, address, outcome })
    const asker = ownAddresses.find((own) => own !== address && !own.startsWith('127.') && !own.includes(':'))
    if (via !== 'tftp' || asker === undefined || askedFromElsewhere.has(address)) continue
    askedFromElsewhere.add(address)
    const fetched = await fetchByTftp({
      address,
      port,
      name: target,
      fromAddress: asker,
      isProbe: true,
    })
    if (fetched.kind === 'other-source')
      facts.push({ via, target, address, outcome: { kind: 'other-source', from: fetched.address, asker } })
  }
  return facts
}

async function byTftp(
  question: Parameters<typeof fetchByTftp>[0],
  sha256: string | undefined,
): Promise<Outcome> {
  const fetched = await fetchByTftp(question)
  return fetched.kind === 'fetched'
    ? judge(fetched.bytes, fetched.milliseconds, sha256)
    : tftpOutcome(fetched)
}

function tftpOutcome(fetched: Exclude<TftpFetch, { readonly kind: 'fetched' }>): Outcome {
  switch (fetched.kind) {
    case 'announced':
      return { kind: 'refused', reason: 'answered with a size alone' }
    case 'refused':
      return { kind: 'refused', reason: `refused: ${fetched.message}` }
    case 'other-source':
      return { kind: 'other-source', from: fetched.address }
    case 'silent':
    case 'failed':
      return fetched
  }
}

/** HEAD and GET, as UEFI does. */
async function byHttp(url: string, sha256: string | undefined): Promise<Outcome> {
  const startedAt = performance.now()
  const traceparent = formatTraceparent({
    traceId: probeTrace(randomBytes(6).toString('hex')),
    parentId: randomBytes(8).toString('hex'),
    isSampled: false,
  })
  const asked = { headers: { traceparent }, headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
  try {
    const head = await request(url, { method: 'HEAD', ...asked })
    await head.body.dump()
    const response = await request(url, asked)
    const bytes = Buffer.from(await response.body.arrayBuffer())
    for (const { statusCode, headers } of [head, response]) {
      if (statusCode !== 200) return { kind: 'refused', reason: `answered ${statusCode}` }
      if (Number(headers['content-length']) !== bytes.length)
        return { kind: 'refused', reason: `announced ${headers['content-length']} bytes of ${bytes.length}` }
    }
    return judge(bytes, performance.now() - startedAt, sha256)
  } catch (error) {
    const { cause, message } = error as Error
    return { kind: 'failed', reason: message || (cause instanceof Error ? cause.message : String(error)) }
  }
}

function judge(bytes: Buffer, milliseconds: number, expected: string | undefined): Outcome {
  const found = createHash('sha256').update(bytes).digest('hex')
  if (expected !== undefined && found !== expected) return { kind: 'other-bytes', expected, found }
  return { kind: 'fetched', sizeBytes: bytes.length, milliseconds }
}
