import { isServiceError } from '../../core/errors.ts'
import type { BootRequest, BootSources } from './boot-request.ts'
import { tokenRefused } from './ignition.ts'
import { readReport } from './read-report.ts'
import { notYet, type Reply, textReply } from './reply.ts'

/** Seconds after which a machine may report again when its report could not be kept. */
const retryAfterSeconds = 30

/**
 * `POST /report/<token>`: a machine says how it fares. The token is looked at before the body is. The same report once
 * more is as good as the first one, because a machine may not have seen our answer.
 */
export async function answerReport(request: BootRequest, sources: BootSources): Promise<Reply> {
  const { secrets, clock, log } = sources
  const { params, address } = request
  const reporter = secrets.reporter(params.token ?? '', { address })
  if (reporter === undefined) return tokenRefused
  const body = await request.readBody()
  if (body.kind === 'gone') return textReply(400, 'The report did not arrive whole.')
  if (body.kind === 'too-long') return textReply(413, 'A report has 16 KiB at most.')
  const read = body.kind === 'text' ? readReport(body.text) : { problem: 'it is not UTF-8 text' }
  if ('problem' in read) return textReply(400, `This report cannot be taken: ${read.problem}.`)
  try {
    const { issuedAt, ...who } = reporter
    const outcome = await secrets.record({ ...read.report, ...who, at: clock.now(), address }, issuedAt)
    return textReply(200, outcome === 'known' ? 'This report is known.' : 'The report is recorded.')
  } catch (error) {
    if (!isServiceError(error)) throw error
    log.error({ code: error.code, err: error }, 'report could not be kept')
    return notYet('The report could not be kept. Report again in a while.', retryAfterSeconds)
  }
}
