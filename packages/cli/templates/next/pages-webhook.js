/** The webhook of payment notifications, as a handler of Next's pages router. */
import { createNextApi } from '@payment-integration/webhook/next'

/** An API route. It reads the raw bytes, because the signature covers them. */
export function paymentWebhook(receive) {
  // Strangers can cause refusals: the line has only the code, and nothing that was sent.
  return createNextApi({ receive, onRefusal: ({ code }) => console.warn(code) })
}

/** The webhook alone, for the test. */
export async function createListener(receive) {
  return paymentWebhook(receive)
}
