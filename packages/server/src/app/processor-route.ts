/** Receives signed updates from payment processors. Source: docs/decisions/processor-updates.md. @module */
import { paths, signatureHeader, type UpdateResult, unauthorizedBody } from '@payment-integration/contract'
import type { Service, UpdateReceiver } from '@payment-integration/core'
import type { Hono } from 'hono'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import { HttpRequestError } from './http-errors.js'
import { jsonAnswer } from './json-answer.js'
import { readBody } from './read-body.js'
import { requireJson } from './require-json.js'

/**
 * Adds `POST /api/v1/processor/updates`. It checks content type and size, then the signature over the raw bytes, then
 * the content. 200 applied or unchanged, 202 waiting, 422 refused; 400, 401, 409, 413, 415 as on the decision page.
 */
export function addProcessorRoute(
  app: Hono<AppEnv>,
  deps: { readonly service: Pick<Service, 'applyUpdate'>; readonly receiveUpdate: UpdateReceiver },
): void {
  const { service, receiveUpdate } = deps
  app.post(paths.processorUpdates, async (c) => {
    requireJson(c.req.raw.headers)
    const body = await readBody(c.req.raw)
    const received = await receiveUpdate({ body, signature: c.req.header(signatureHeader) ?? null })
    switch (received.kind) {
      case 'unauthenticated':
        return jsonAnswer(unauthorizedBody, 401, { 'WWW-Authenticate': signatureHeader })
      case 'invalid':
        throw new HttpRequestError('ERR_UPDATE_INVALID', received.message)
      case 'update':
        return answerResult(await service.applyUpdate(received.update))
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
