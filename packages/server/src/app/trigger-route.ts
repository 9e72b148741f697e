/** Causes events, for tests of a receiver in development. See docs/decisions/trigger.md. @module */
import { cacheControl, triggerPath, unreadableJsonMessage } from '@payment-integration/contract/internal'
import { assertModestJson } from '@payment-integration/contract/internal-parse'
import { type Caller, readRequestBody } from '@payment-integration/core/internal'
import type { Logger } from '@payment-integration/core/ports'
import type { Hono } from 'hono'
import { describeError } from '../logging/pino-logger.js'
import type { AppEnv } from './requests.js'
import { allowMethods, HttpRequestError, maxBodyBytes, requireJson } from './requests.js'

/** Causes events while they are read. An error `ERR_TRIGGER_INVALID` at once refuses the request, with its message. */
export type TriggerHandler = (request: unknown, caller: Caller) => AsyncIterable<object>

const headers = { 'Content-Type': 'application/x-ndjson', 'Cache-Control': cacheControl, 'X-Accel-Buffering': 'no' }

/**
 * Adds `POST /api/v1/integration/trigger` for authenticated callers. It answers one JSON object per line: each event,
 * and `{"event":"failed","reason":…}` when the scenario ends early. 400, 413 and 415 as for other JSON bodies.
 */
export function addTriggerRoute(
  app: Hono<AppEnv>,
  { trigger, logger }: { readonly trigger: TriggerHandler; readonly logger: Logger },
): void {
  app.post(triggerPath, async (c) => {
    requireJson(c.req.raw.headers)
    const request = parseJson(await readRequestBody(c.req.raw, maxBodyBytes))
    const events = begin(() => trigger(request, c.get('caller')))
    return new Response(linesOf(events, logger, c.get('requestId')), { headers })
  })
  allowMethods(app, triggerPath, ['POST'])
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    assertModestJson(bytes)
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    throw new HttpRequestError('ERR_TRIGGER_INVALID', unreadableJsonMessage(bytes, 'Body is no JSON'))
  }
}

function begin(start: () => AsyncIterable<object>): AsyncIterator<object> {
  try {
    return start()[Symbol.asyncIterator]()
  } catch (error) {
    if (hasCode(error, 'ERR_TRIGGER_INVALID')) throw new HttpRequestError('ERR_TRIGGER_INVALID', error.message)
    throw error
  }
}

/** Each event as a line. The next one is caused when the connection has taken the last. */
function linesOf(events: AsyncIterator<object>, logger: Logger, requestId: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const line = (event: object) => encoder.encode(`${JSON.stringify(event)}\n`)
  let isLeft = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await events.next()
          if (isLeft) return
          if (done === true) controller.close()
          else controller.enqueue(line(value))
        } catch (error) {
          const isExpected = hasCode(error, 'ERR_TRIGGER')
          if (!isExpected) logger.error({ requestId, ...describeError(error) }, 'A trigger failed.')
          if (isLeft) return
          controller.enqueue(line({ event: 'failed', reason: isExpected ? error.message : 'An unexpected error.' }))
          controller.close()
        }
      },
      async cancel() {
        isLeft = true
        await events.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

function hasCode(error: unknown, code: string): error is Error {
  return error instanceof Error && 'code' in error && error.code === code
}
