/** The webhook of payment notifications. In your app, above any body parser: `app.use(paymentWebhook(receive))`. */
import type { IncomingDelivery } from '@payment-integration/webhook'
import { createExpressHandler } from '@payment-integration/webhook/express'
import express from 'express'

/** An Express app with one route. The handler reads the raw bytes, because the signature covers them. */
export function paymentWebhook(receive: (delivery: IncomingDelivery) => Promise<unknown>) {
  const app = express()
  // Anyone can cause rejections, so the log line has only the code, and nothing that was sent.
  app.all('/WEBHOOK_PATH', createExpressHandler({ receive, onRejection: ({ code }) => console.warn(code) }))
  return app
}

/** The webhook alone, for `npm run payments` and the test. */
export async function createListener(receive: (delivery: IncomingDelivery) => Promise<unknown>) {
  return paymentWebhook(receive)
}
