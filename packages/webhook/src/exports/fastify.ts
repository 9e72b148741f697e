export { type FastifyReceiverOptions, fastifyReceiver } from '../adapters/fastify.js'
