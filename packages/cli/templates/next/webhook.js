/** The webhook of payment notifications, as a handler of Next's app router. */
import { createNextRoute } from '@payment-integration/webhook/next'

/** A route handler. It reads the raw bytes, because the signature covers them. */
export function paymentWebhook(receive) {
  // Strangers can cause refusals: the line has only the code, and nothing that was sent.
  return createNextRoute({ receive, onRefusal: ({ code }) => console.warn(code) })
}
