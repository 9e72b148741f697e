export { HandlerError } from '../adapters/handler-error.js'
export type { HandlerOptions, IncomingDelivery, Refused } from '../adapters/handler-options.js'
export { type KoaContextLike, koaHandler } from '../adapters/koa.js'
export type { NodeRequest } from '../adapters/node-types.js'
