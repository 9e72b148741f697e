/** Streams deliveries, and events caused for tests. Source: docs/decisions/trigger-and-listen.md. @module */
import {
  cacheControl,
  deliveryStreamPath,
  formatUnreadableJson,
  streamEvents,
  triggerPath,
} from '@payment-integration/contract/internal'
import { assertModestJson } from '@payment-integration/contract/internal-io'
import type { Caller, DeliveryStreams, StreamMessage } from '@payment-integration/core/internal'
import { readRequestBody } from '@payment-integration/core/internal'
import type { Logger } from '@payment-integration/core/ports'
import type { Hono } from 'hono'
import { toErrorFields } from '../logging/log.js'
import { addEndpoint, answerTooManyRequests } from './answers.js'
import {
  type AppEnv,
  getAuthorization,
  HttpRequestError,
  maxBodyBytes,
  rejectBody,
  requireJsonContentType,
} from './requests.js'

/** After this time in milliseconds, a caller with too many open streams may try again. */
const streamLimitWaitMs = 5_000

const eventStreamHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': cacheControl,
  // Otherwise proxies such as nginx buffer the answer.
  'X-Accel-Buffering': 'no',
}

/** Adds `GET /api/v1/integration/deliveries/stream`. The guard has authenticated the request and set `caller`. */
export function addStreamRoute(app: Hono<AppEnv>, streams: DeliveryStreams): void {
  addEndpoint(app, 'get', deliveryStreamPath, (c) => {
    rejectBody(c.req.raw)
    // Nothing would close a stream that a HEAD request opens.
    if (c.req.method === 'HEAD') return new Response(null, { headers: eventStreamHeaders })
    const aborter = new AbortController()
    const messages = streams.open({
      integrationAddress: c.get('caller').integrationAddress,
      authorization: getAuthorization(c),
      lastEventId: c.req.header('last-event-id') || null,
      since: c.req.query('since') ?? null,
      signal: aborter.signal,
    })
    if (messages === null) return answerTooManyRequests(streamLimitWaitMs)
    return new Response(encodeMessages(messages, aborter), { headers: eventStreamHeaders })
  })
}

/** Reads the next message only when the connection has taken the last one. */
function encodeMessages(
  messages: AsyncGenerator<StreamMessage, void, undefined>,
  aborter: AbortController,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await messages.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(formatMessage(value)))
      },
      cancel() {
        aborter.abort()
      },
    },
    { highWaterMark: 0 },
  )
}

/** JSON text has no line break, so an event is one line of data. */
function formatMessage(message: StreamMessage): string {
  if (message.kind === 'heartbeat') return ': heartbeat\n\n'
  const data = message.kind === 'live' ? {} : message.data
  return `event: ${streamEvents[message.kind]}\nid: ${message.id}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Causes events while they are read. When the call throws `ERR_TRIGGER_INVALID`, the request is answered 400. */
export type TriggerHandler = (request: unknown, caller: Caller) => AsyncIterable<object>

const jsonLinesHeaders = { ...eventStreamHeaders, 'Content-Type': 'application/x-ndjson' }

/**
 * Adds `POST /api/v1/integration/trigger` for authenticated callers. It answers one JSON object per line: each event,
 * and `{"event":"failed","reason":…}` when the scenario ends early. 400, 413 and 415 as for other JSON bodies.
 */
export function addTriggerRoute(
  app: Hono<AppEnv>,
  { trigger, logger }: { readonly trigger: TriggerHandler; readonly logger: Logger },
): void {
  addEndpoint(app, 'post', triggerPath, async (c) => {
    requireJsonContentType(c.req.raw.headers)
    const request = parseJson(await readRequestBody(c.req.raw, maxBodyBytes))
    const events = startTrigger(() => trigger(request, c.get('caller')))
    const lines = encodeLines(events, logger, c.get('requestId'))
    return new Response(ReadableStream.from(lines), { headers: jsonLinesHeaders })
  })
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    assertModestJson(bytes)
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    throw new HttpRequestError('ERR_TRIGGER_INVALID', formatUnreadableJson(bytes, 'Body is no JSON'))
  }
}

function startTrigger(start: () => AsyncIterable<object>): AsyncIterable<object> {
  try {
    return start()
  } catch (error) {
    if (hasCode(error, 'ERR_TRIGGER_INVALID')) throw new HttpRequestError('ERR_TRIGGER_INVALID', error.message)
    throw error
  }
}

/** Writes each event as a line. The next event is caused when the connection has taken the last line. */
async function* encodeLines(events: AsyncIterable<object>, logger: Logger, requestId: string) {
  const encoder = new TextEncoder()
  const encodeLine = (event: object) => encoder.encode(`${JSON.stringify(event)}\n`)
  try {
    for await (const event of events) yield encodeLine(event)
  } catch (error) {
    const isExpected = hasCode(error, 'ERR_TRIGGER')
    if (!isExpected) logger.error({ requestId, ...toErrorFields(error) }, 'A trigger failed.')
    yield encodeLine({ event: 'failed', reason: isExpected ? error.message : 'An unexpected error.' })
  }
}

function hasCode(error: unknown, code: string): error is Error {
  return error instanceof Error && 'code' in error && error.code === code
}
