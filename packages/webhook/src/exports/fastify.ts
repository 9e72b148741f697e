export {
  type FastifyHandler,
  type FastifyLike,
  type FastifyReceiverOptions,
  type FastifyReplyLike,
  type FastifyRequestLike,
  fastifyHandler,
  fastifyReceiver,
} from '../adapters/fastify.js'
export { HandlerError } from '../adapters/handler-error.js'
export type { HandlerOptions, IncomingDelivery, Refused } from '../adapters/handler-options.js'
export type { NodeRequest } from '../adapters/node-types.js'
