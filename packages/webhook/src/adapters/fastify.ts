/** Receives deliveries in Fastify 4 and 5. @module */
import { type HandlerOptions, resolveSettings } from './handler-options.js'
import { answer } from './internal/answer.js'
import type { NodeRequest } from './node.js'
import { adaptRequest, drain, type ParsedRequest } from './node.js'

/** The used part of Fastify's request. */
export interface FastifyRequestLike extends ParsedRequest {
  readonly raw: NodeRequest
}

/** The used part of Fastify's reply. */
export interface FastifyReplyLike {
  code(status: number): unknown
  header(name: string, value: string): unknown
  send(body?: string): unknown
}

/** The used part of a Fastify instance. */
export interface FastifyLike {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: '*',
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown
  all(url: string, handler: FastifyHandler): unknown
}

/** A route's handler. It never rejects. */
export type FastifyHandler = (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>

/** The options of every handler, and the path. */
export interface FastifyReceiverOptions extends HandlerOptions {
  /** The path of the route, such as `/webhook`. A `prefix` of `register` comes before it. */
  readonly url: string
}

/**
 * A plugin with one route, where no parser touches the body. Your parsers of other routes stay unchanged.
 * @throws {TypeError | RangeError} When an option is unusable; `register` passes the error on.
 * @example
 * import { fastifyReceiver } from '@payment-integration/webhook/fastify'
 * import { fastify } from 'fastify'
 * import { receive } from './receive.js'
 * await fastify().register(fastifyReceiver, { url: '/webhook', receive }).listen({ port: 4000 })
 */
export async function fastifyReceiver(instance: FastifyLike, options: FastifyReceiverOptions): Promise<void> {
  const handler = createFastifyHandler(options)
  instance.removeAllContentTypeParsers()
  instance.addContentTypeParser('*', (_request, _payload, done) => done(null))
  instance.all(options.url, handler)
}

/**
 * Makes a handler for a route of your own whose content type parser leaves the body alone, or keeps it as a buffer.
 * @throws {TypeError | RangeError} When an option is unusable.
 */
export function createFastifyHandler(options: HandlerOptions): FastifyHandler {
  const settings = resolveSettings(options)
  return async (request, reply) => {
    const adapted = adaptRequest(request.raw, [request, request.raw], cure)
    const { status, headers, body } = await answer(adapted, settings)
    drain(request.raw, settings.deadlineMs)
    reply.code(status)
    for (const [name, value] of Object.entries(headers)) reply.header(name, value)
    return reply.send(body === '' ? undefined : body)
  }
}

const cure = 'Use app.register(fastifyReceiver, { url, receive }).'
