export { createFastifyHandler, type FastifyReceiverOptions, fastifyReceiver } from '../adapters/fastify.js'
