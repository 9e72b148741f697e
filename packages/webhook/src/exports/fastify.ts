export {
  createFastifyHandler,
  type FastifyHandler,
  type FastifyLike,
  type FastifyReceiverOptions,
  type FastifyReplyLike,
  type FastifyRequestLike,
  fastifyReceiver,
} from '../adapters/fastify.js'
