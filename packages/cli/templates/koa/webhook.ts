/** The webhook of payment notifications. In your app, above any body parser: `app.use(paymentWebhook(receive))`. */
import type { IncomingDelivery } from '@payment-integration/webhook'
import { createKoaHandler } from '@payment-integration/webhook/koa'
import Koa, { type Context, type Next } from 'koa'

/** Middleware for one path. The handler reads the raw bytes, because the signature covers them. */
export function paymentWebhook(receive: (delivery: IncomingDelivery) => Promise<unknown>) {
  // Anyone can cause rejections, so the log line has only the code, and nothing that was sent.
  const handler = createKoaHandler({ receive, onRejection: ({ code }) => console.warn(code) })
  return (ctx: Context, next: Next) => (ctx.path === '/WEBHOOK_PATH' ? handler(ctx) : next())
}

/** The webhook alone, for `npm run payments` and the test. */
export async function createListener(receive: (delivery: IncomingDelivery) => Promise<unknown>) {
  return new Koa().use(paymentWebhook(receive)).callback()
}
