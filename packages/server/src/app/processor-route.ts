/** Signed updates from payment processors. Source: DESIGN section 3 (updates); docs/decisions/processor-updates.md. @module */
import { paths, signatureHeader, type UpdateResult, unauthorizedBody } from '@payment-integration/contract'
import type { Service, UpdateReceiver } from '@payment-integration/core'
import type { Context, Hono } from 'hono'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import { HttpRequestError } from './http-errors.js'
import { readBody } from './read-body.js'

/**
 * Adds `POST /api/v1/processor/updates`: content type and size, then the signature over the raw bytes, then the content.
 * 200 applied or unchanged, 202 waiting, 422 refused; 400, 401, 409, 413, 415 as in the decision page.
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
        return c.json(unauthorizedBody, 401, { 'WWW-Authenticate': signatureHeader })
      case 'invalid':
        throw new HttpRequestError('ERR_UPDATE_INVALID', received.message)
      case 'update':
        return answerResult(c, await service.applyUpdate(received.update))
    }
  })
  allowMethods(app, paths.processorUpdates, ['POST'])
}

function answerResult(c: Context<AppEnv>, result: UpdateResult): Response {
  switch (result.outcome) {
    case 'applied':
    case 'unchanged':
      return c.json(result, 200)
    case 'waiting':
      return c.json(result, 202)
    case 'refused':
      return c.json({ error: result.reason ?? 'The update was refused', ...result }, 422)
  }
}

function requireJson(headers: Headers): void {
  const type = headers.get('content-type') ?? ''
  if (!/^application\/json(; ?charset=utf-8)?$/i.test(type))
    throw new HttpRequestError('ERR_CONTENT_TYPE', 'Content-Type must be application/json')
  if (headers.has('content-encoding'))
    throw new HttpRequestError('ERR_CONTENT_TYPE', 'Content-Encoding is not accepted; send the body as it is')
}
