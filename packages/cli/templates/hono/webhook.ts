/** The webhook of payment notifications. Above other middleware: `app.route('/', paymentWebhook(receive))`. */
import { getRequestListener } from '@hono/node-server'
import type { IncomingDelivery } from '@payment-integration/webhook'
import { createHonoHandler } from '@payment-integration/webhook/hono'
import { Hono } from 'hono'

/** A Hono app with one route. The handler reads the raw bytes, because the signature covers them. */
export function paymentWebhook(receive: (delivery: IncomingDelivery) => Promise<unknown>) {
  const app = new Hono()
  // Anyone can cause rejections, so the log line has only the code, and nothing that was sent.
  app.all('/WEBHOOK_PATH', createHonoHandler({ receive, onRejection: ({ code }) => console.warn(code) }))
  return app
}

/** The webhook alone, for `npm run payments` and the test. */
export async function createListener(receive: (delivery: IncomingDelivery) => Promise<unknown>) {
  return getRequestListener(paymentWebhook(receive).fetch)
}
