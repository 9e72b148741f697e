/** The stream of an integration's deliveries, as server-sent events. See docs/decisions/listen.md. @module */
import { cacheControl, deliveryStreamPath, streamEvents } from '@payment-integration/contract/internal'
import type { DeliveryStreams, StreamMessage } from '@payment-integration/core/internal'
import type { Hono } from 'hono'
import { tooManyRequests } from './guard.js'
import type { AppEnv } from './requests.js'
import { allowMethods, authorization, refuseBody } from './requests.js'

/** After this time in milliseconds, a caller over the limit may try again. */
const fullWaitMs = 5_000

const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': cacheControl,
  // Proxies such as nginx collect an answer otherwise.
  'X-Accel-Buffering': 'no',
}

/** Adds `GET /api/v1/integration/deliveries/stream`. The guard has authenticated the request and set `caller`. */
export function addStreamRoute(app: Hono<AppEnv>, streams: DeliveryStreams): void {
  app.get(deliveryStreamPath, (c) => {
    refuseBody(c.req.raw)
    // A HEAD request has no end of its own.
    if (c.req.method === 'HEAD') return new Response(null, { headers })
    const end = new AbortController()
    const messages = streams.open({
      integrationAddress: c.get('caller').integrationAddress,
      authorization: authorization(c),
      lastEventId: c.req.header('last-event-id') || null,
      since: c.req.query('since') ?? null,
      signal: end.signal,
    })
    if (messages === null) return tooManyRequests(fullWaitMs)
    return new Response(bytesOf(messages, end), { headers })
  })
  allowMethods(app, deliveryStreamPath, ['GET', 'HEAD'])
}

/** Reads the next message only when the connection has taken the last one. */
function bytesOf(
  messages: AsyncGenerator<StreamMessage, void, undefined>,
  end: AbortController,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await messages.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(textOf(value)))
      },
      cancel() {
        end.abort()
      },
    },
    { highWaterMark: 0 },
  )
}

/** JSON text has no line break, so an event is one line of data. */
function textOf(message: StreamMessage): string {
  if (message.kind === 'heartbeat') return ': heartbeat\n\n'
  const data = message.kind === 'live' ? {} : message.data
  return `event: ${streamEvents[message.kind]}\nid: ${message.id}\ndata: ${JSON.stringify(data)}\n\n`
}
