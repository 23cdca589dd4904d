import type { BootEvent, BootId } from '../../core/boot-event.ts'
import type { Sha256 } from '../../core/digest.ts'
import { answerRange } from './byte-range.ts'
import { contentTypeOf } from './content-type.ts'
import { type Exchange, isItsTurn, writeHead } from './exchange.ts'
import { FileChangedError, type FileProblem, type OpenFile, type OpenFiles } from './open-files.ts'
import { checkPreconditions, httpDate, rangeApplies } from './preconditions.ts'
import { type FileReply, type HeaderLines, notYet, type SentFile, textReply } from './reply.ts'
import { type SendFileParts, sendFile } from './send-file.ts'
import { conditionsOf, preconditionFailed, sendContent, sendNotModified } from './send-reply.ts'

/** How often the place that a transfer has reached is told. */
const progressEveryMs = 1_000
/** A lease is renewed this often while bytes flow; it lasts two hours. */
const touchEveryMs = 60_000

export interface FileReplyParts extends SendFileParts {
  readonly openFiles: OpenFiles
  onEvent(event: BootEvent): void
  /** A file of the catalog could not be read as it should be: it needs a scrub. */
  onFileProblem(sha256: Sha256, problem: FileProblem | 'changed-while-sent'): void
  /** A loader is not as it was catalogued: the catalogue needs to be read again. */
  onLoaderProblem(name: string, problem: FileProblem | 'changed-while-sent'): void
  /** Keeps the boot's lease. */
  touch(bootId: BootId): void
}

/** What went out of a file. */
interface SentPart {
  fromBytes: number
  sentBytes: number
}

/** Opens, checks and sends a verified file, and records what came of it. */
export async function sendFileReply(
  exchange: Exchange,
  reply: FileReply,
  parts: FileReplyParts,
): Promise<void> {
  const { file } = reply
  const startedAt = parts.clock.now()
  const opened = await parts.openFiles.acquire(file.path, file)
  if (opened.kind === 'problem') {
    tellProblem(file, opened.problem, parts)
    sendContent(exchange, notYet(fileProblemText(file, opened.problem), file.role === 'loader' ? 2 : 30))
    record(exchange, reply, parts, { startedAt, sentBytes: 0, completed: false })
    return
  }
  const sent: SentPart = { fromBytes: 0, sentBytes: 0 }
  let completed = false
  try {
    completed = await sendOpenFile(exchange, reply, opened.file, parts, sent)
  } catch (error) {
    // The head promised more: only a broken connection tells the node so.
    exchange.response.destroy()
    tellProblem(file, error instanceof FileChangedError ? 'changed-while-sent' : 'unreadable', parts)
  } finally {
    opened.file.release()
    record(exchange, reply, parts, { startedAt, ...sent, completed })
  }
}

async function sendOpenFile(
  exchange: Exchange,
  { file, headers, bootId }: FileReply,
  open: OpenFile,
  parts: FileReplyParts,
  sent: SentPart,
): Promise<boolean> {
  const validators = { etag: `"${file.sha256}"`, modifiedAt: file.modifiedAt }
  const names: HeaderLines = ['ETag', validators.etag, 'Last-Modified', httpDate(file.modifiedAt), ...headers]
  const verdict = checkPreconditions(conditionsOf(exchange), validators)
  if (verdict === 'failed') {
    sendContent(exchange, preconditionFailed())
    return true
  }
  if (verdict === 'not-modified') {
    sendNotModified(exchange, names)
    return true
  }

  const { request, response, isHead } = exchange
  const { range, 'if-range': ifRange } = request.headers
  // RFC 9110 §14.2: Range counts for GET alone.
  const isRanged = !isHead && rangeApplies(singleHeader(ifRange), validators)
  const asked = answerRange(isRanged ? range : undefined, file.sizeBytes)
  if (asked.kind === 'unsatisfiable') {
    sendContent(
      exchange,
      textReply(416, `The file has ${file.sizeBytes} bytes.`, ['Content-Range', `bytes */${file.sizeBytes}`]),
    )
    return true
  }
  const isPart = asked.kind === 'part'
  const { start, end } = isPart ? asked : { start: 0, end: file.sizeBytes }
  const place = isPart ? ['Content-Range', `bytes ${start}-${end - 1}/${file.sizeBytes}`] : []
  const body = ['Content-Type', contentTypeOf(file), 'Content-Length', String(end - start)]
  writeHead(exchange, isPart ? 206 : 200, [...body, ...place, 'Accept-Ranges', 'bytes', ...names])
  if (isHead) {
    response.end()
    return true
  }
  if (!(await isItsTurn(exchange))) return false

  sent.fromBytes = start
  let touchedAt = parts.clock.now()
  let toldAt = touchedAt
  let reachedBytes = start
  const tell = (at: number) => tellProgress(exchange, { file, bootId }, parts, at, reachedBytes)
  tell(touchedAt)
  return sendFile(
    {
      response,
      file: open,
      start,
      end,
      onProgress(bytes) {
        sent.sentBytes += bytes
        reachedBytes += bytes
        const now = parts.clock.now()
        // A clock that was set back tells at once, and then as before.
        if (now - toldAt >= progressEveryMs || now < toldAt) {
          toldAt = now
          tell(now)
        }
        if (bootId === undefined || Math.abs(now - touchedAt) < touchEveryMs) return
        touchedAt = now
        parts.touch(bootId)
      },
    },
    parts,
  )
}

function tellProgress(
  { connection }: Exchange,
  { file, bootId }: Pick<FileReply, 'file' | 'bootId'>,
  { onEvent }: FileReplyParts,
  at: number,
  reachedBytes: number,
): void {
  onEvent({
    type: 'artifact-progress',
    at,
    bootId,
    role: file.role,
    name: file.name,
    loaderArch: file.role === 'loader' ? file.arch : undefined,
    reachedBytes,
    totalBytes: file.sizeBytes,
    address: connection.address,
  })
}

function record(
  exchange: Exchange,
  { file, bootId }: FileReply,
  { clock, onEvent }: FileReplyParts,
  {
    startedAt,
    fromBytes = 0,
    sentBytes,
    completed,
  }: Partial<Readonly<SentPart>> & {
    readonly startedAt: number
    readonly sentBytes: number
    readonly completed: boolean
  },
): void {
  const at = clock.now()
  onEvent({
    type: 'artifact-sent',
    at,
    bootId,
    role: file.role,
    name: file.name,
    method: exchange.isHead ? 'HEAD' : 'GET',
    status: exchange.status,
    ...(fromBytes > 0 && { fromBytes }),
    sentBytes,
    totalBytes: file.sizeBytes,
    durationMs: Math.max(0, at - startedAt),
    loaderArch: file.role === 'loader' ? file.arch : undefined,
    completed,
    address: exchange.connection.address,
    trace: exchange.trace,
  })
}

function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

function tellProblem(
  file: SentFile,
  problem: FileProblem | 'changed-while-sent',
  { onFileProblem, onLoaderProblem }: FileReplyParts,
): void {
  if (file.role === 'loader') onLoaderProblem(file.name, problem)
  else onFileProblem(file.sha256, problem)
}

function fileProblemText({ name, role }: SentFile, problem: FileProblem): string {
  if (problem === 'out-of-descriptors') return 'Too many files are open right now. Ask again.'
  if (role === 'loader') {
    return `${name} is ${problem.replaceAll('-', ' ')} on disk. Loaders are read again now; \`pilotlight loaders\` says what is found.`
  }
  return `This file is in the catalog, but on disk it is ${problem.replaceAll('-', ' ')}. It is not served until it is whole again; \`pilotlight verify\` looks for the cause.`
}
