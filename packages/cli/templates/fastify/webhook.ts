/** The webhook of payment notifications. In your app: `await app.register(paymentWebhook, { receive })`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { IncomingDelivery } from '@payment-integration/webhook'
import { fastifyReceiver } from '@payment-integration/webhook/fastify'
import fastify, { type FastifyInstance } from 'fastify'

/** A plugin with one route. It keeps body parsers away from this route: the signature covers the raw bytes. */
export async function paymentWebhook(
  app: FastifyInstance,
  { receive }: { readonly receive: (delivery: IncomingDelivery) => Promise<unknown> },
) {
  // Anyone can cause rejections, so the log line has only the code, and nothing that was sent.
  const onRejection = ({ code }: { readonly code: string }) => console.warn(code)
  await app.register(fastifyReceiver, { url: '/WEBHOOK_PATH', receive, onRejection })
}

/** The webhook alone, for `npm run payments` and the test. */
export async function createListener(receive: (delivery: IncomingDelivery) => Promise<unknown>) {
  const app = fastify()
  await app.register(paymentWebhook, { receive })
  await app.ready()
  return (request: IncomingMessage, response: ServerResponse) => app.routing(request, response)
}
