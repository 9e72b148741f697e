/** The webhook of payment notifications, as a handler of Next's app router. */
import type { IncomingDelivery } from '@payment-integration/webhook'
import { createNextRoute } from '@payment-integration/webhook/next'

/** A route handler. It reads the raw bytes, because the signature covers them. */
export function paymentWebhook(receive: (delivery: IncomingDelivery) => Promise<unknown>) {
  // Anyone can cause rejections, so the log line has only the code, and nothing that was sent.
  return createNextRoute({ receive, onRejection: ({ code }) => console.warn(code) })
}
