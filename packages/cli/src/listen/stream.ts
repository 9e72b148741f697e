/** Opens the stream of a server and reads its events. @module */
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { deliveryStreamPath } from '@payment-integration/contract/internal'
import { parseRetryAfter, startTimeLimit } from '@payment-integration/contract/internal-io'
import { CliError, UnusableServerError } from '../errors.js'
import { getCredentialsError, getEndpoint, type Integrator } from '../input.js'
import type { Io } from '../io.js'

/** After this silence, in milliseconds, the connection counts as lost: the server sends something every 5 s. */
const silenceMs = 20_000
/** The longest wait that a server can ask for, in milliseconds. */
const maxWaitMs = 3_600_000

/** The connection failed or was lost; a later attempt may work. */
export class ConnectionLostError extends CliError {
  override readonly name = 'ConnectionLostError'
  readonly code = 'ERR_CONNECTION_LOST'
  override readonly retryable = true
  /** The wait that the server asked for, in milliseconds; null: none. */
  readonly retryAfterMs: number | null
  constructor(reason: string, retryAfterMs: number | null = null) {
    super(reason)
    this.retryAfterMs = retryAfterMs
  }
}

export type StreamTarget = Omit<Integrator, 'variables'>

/** Where a stream begins: after the event `lastId`, else at `since`, in unix milliseconds, else now. */
interface StreamStart {
  readonly lastId: string | null
  readonly since: number | null
}

/**
 * Reads the events of one connection until it ends. A slow caller slows the server down.
 * @throws ConnectionLostError When a later attempt may work. @throws UnusableServerError When none can work.
 */
export async function* readStream(target: StreamTarget, start: StreamStart, io: Pick<Io, 'signal' | 'now'>) {
  const response = await open(target, start, io.signal)
  try {
    rejectStatus(response, target, io.now())
    const decoder = new TextDecoder()
    let incomplete = ''
    const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    for (;;) {
      const chunk = await withSilenceLimit(chunks.next(), io.signal)
      if (chunk.done === true) return
      const blocks = `${incomplete}${decoder.decode(chunk.value, { stream: true })}`.split('\n\n')
      incomplete = blocks.pop() ?? ''
      if (incomplete.length > maxCharacters)
        throw new UnusableServerError('The server sent an event of more than 8 MB.')
      yield* blocks.map(parseBlock).filter((event) => event !== null)
    }
  } catch (error) {
    if (error instanceof UnusableServerError || error instanceof ConnectionLostError) throw error
    throw new ConnectionLostError('the connection was cut')
  } finally {
    response.destroy()
  }
}

function open(target: StreamTarget, { lastId, since }: StreamStart, signal: AbortSignal) {
  const { url, Authorization } = getEndpoint(target, deliveryStreamPath)
  if (lastId === null && since !== null) url.searchParams.set('since', String(since))
  const headers = {
    Accept: 'text/event-stream',
    Authorization,
    ...(lastId === null ? {} : { 'Last-Event-ID': lastId }),
  }
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(url, { headers, agent: false, signal, timeout: silenceMs }, (response) => {
      // While the caller handles events, nothing is read: this silence must not count as a loss.
      request.setTimeout(0)
      response.on('error', () => undefined)
      resolve(response)
    })
    request.on('timeout', () => request.destroy(new Error('no answer')))
    request.on('error', (error: NodeJS.ErrnoException) => reject(new ConnectionLostError(explainFailure(error, url))))
    request.end()
  })
}

function explainFailure({ code }: NodeJS.ErrnoException, { host }: URL): string {
  if (code === 'ECONNREFUSED') return `nothing answers at ${host}`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the name ${host} is not found`
  return `${host} is not reachable${code === undefined ? '' : ` (${code})`}`
}

function rejectStatus(response: IncomingMessage, target: StreamTarget, now: number): void {
  const { statusCode = 0, headers } = response
  if (statusCode === 200 && headers['content-type']?.startsWith('text/event-stream')) return
  if (statusCode === 401) throw getCredentialsError(target)
  if (statusCode === 404)
    throw new UnusableServerError('The server does not stream deliveries: its operator enables that with PI_LISTEN=on.')
  if (statusCode === 400)
    throw new UnusableServerError('The server rejects the position of this stream; run listen again without --since.')
  if (statusCode === 429 || statusCode >= 500) {
    const waitMs = parseRetryAfter(headers['retry-after'], now)
    const reason = statusCode === 429 ? 'too many streams are open' : `the server answers ${statusCode}`
    throw new ConnectionLostError(reason, waitMs === null ? null : Math.min(waitMs, maxWaitMs))
  }
  if (statusCode >= 300 && statusCode < 400)
    throw new UnusableServerError(`The server redirects to ${headers.location ?? 'nowhere'}; pass its final URL.`)
  throw new UnusableServerError(`No payment integration server answers at this URL (status ${statusCode}).`)
}

async function withSilenceLimit<T>(next: Promise<T>, signal: AbortSignal): Promise<T> {
  const limit = startTimeLimit(silenceMs, signal)
  const silence = limit.whenAborted.catch(() => {
    throw new ConnectionLostError(`nothing arrived for ${silenceMs / 1_000} s`)
  })
  try {
    return await Promise.race([next, silence])
  } finally {
    limit.end()
  }
}

export type StreamEvent = NonNullable<ReturnType<typeof parseBlock>>

const maxCharacters = 8 * 1024 * 1024

/** Parses the lines of one event; null for a comment. */
function parseBlock(block: string) {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''))
  }
  const data = fields.get('data')
  return data === undefined ? null : { event: fields.get('event') ?? 'message', id: fields.get('id') ?? null, data }
}
