/** Receives signed updates from payment processors. Source: docs/decisions/processor-updates.md. @module */
import { paths, signatureHeader, type UpdateResult, type UpdateResults } from '@payment-integration/contract'
import { unauthorizedBody } from '@payment-integration/contract/internal'
import { type Service, UpdateConflictError, type UpdateReceiver } from '@payment-integration/core'
import { readRequestBody } from '@payment-integration/core/internal'
import type { Hono } from 'hono'
import type { AppEnv } from './requests.js'
import { allowMethods, HttpRequestError, jsonAnswer, requireJson } from './requests.js'

/** Largest body, in bytes: that of 100 usual updates. */
export const maxUpdateBytes = 128 * 1024

/**
 * Adds `POST /api/v1/processor/updates`. It checks content type and size, then the signature over the raw bytes, then
 * the content. 200 applied or unchanged, 202 waiting, 422 refused; 400, 401, 409, 413, 415 as on the decision page.
 * Several updates are answered 200 with their results.
 */
export function addProcessorRoute(
  app: Hono<AppEnv>,
  deps: { readonly service: Pick<Service, 'applyUpdate' | 'applyUpdates'>; readonly receiveUpdate: UpdateReceiver },
): void {
  const { service, receiveUpdate } = deps
  app.post(paths.processorUpdates, async (c) => {
    requireJson(c.req.raw.headers)
    const body = await readRequestBody(c.req.raw, maxUpdateBytes)
    const received = await receiveUpdate({ body, signature: c.req.header(signatureHeader) ?? null })
    switch (received.kind) {
      case 'unauthenticated':
        return jsonAnswer(unauthorizedBody, 401, { 'WWW-Authenticate': signatureHeader })
      case 'invalid':
        throw new HttpRequestError('ERR_UPDATE_INVALID', received.message)
      case 'update':
        return answerResult(await service.applyUpdate(received.update))
      case 'updates':
        return answerResults(received.updates, await service.applyUpdates(received.updates))
    }
  })
  allowMethods(app, paths.processorUpdates, ['POST'])
}

function answerResult(result: UpdateResult): Response {
  switch (result.outcome) {
    case 'applied':
    case 'unchanged':
      return jsonAnswer(result, 200)
    case 'waiting':
      return jsonAnswer(result, 202)
    case 'refused':
      return jsonAnswer({ error: result.reason ?? 'The update was refused', ...result }, 422)
  }
}

function answerResults(
  updates: readonly { readonly id: string }[],
  outcomes: readonly PromiseSettledResult<UpdateResult>[],
): Response {
  const results = outcomes.map((outcome, index): UpdateResults['results'][number] => {
    if (outcome.status === 'fulfilled') return outcome.value
    if (!(outcome.reason instanceof UpdateConflictError)) throw outcome.reason
    return { id: updates[index]?.id ?? '', error: outcome.reason.message }
  })
  return jsonAnswer({ results }, 200)
}
