/** The webhook of payment notifications. In your app, above any body parser: `app.use(paymentWebhook(receive))`. */
import { createKoaHandler } from '@payment-integration/webhook/koa'
import Koa from 'koa'

/** Middleware for one path. The handler reads the raw bytes, because the signature covers them. */
export function paymentWebhook(receive) {
  // Strangers can cause refusals: the line has only the code, and nothing that was sent.
  const handler = createKoaHandler({ receive, onRefusal: ({ code }) => console.warn(code) })
  return (ctx, next) => (ctx.path === '/WEBHOOK_PATH' ? handler(ctx) : next())
}

/** The webhook alone, for `npm run payments` and the test. */
export async function createListener(receive) {
  return new Koa().use(paymentWebhook(receive)).callback()
}
