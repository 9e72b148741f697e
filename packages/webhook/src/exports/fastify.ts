export {
  createFastifyHandler,
  fastifyReceiver,
  type FastifyHandler,
  type FastifyLike,
  type FastifyReceiverOptions,
  type FastifyReplyLike,
  type FastifyRequestLike,
} from '../adapters/fastify.js'
