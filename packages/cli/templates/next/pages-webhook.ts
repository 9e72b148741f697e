/** The webhook of payment notifications, as a handler of Next's pages router. */
import type { IncomingDelivery } from '@payment-integration/webhook'
import { createNextApi } from '@payment-integration/webhook/next'

/** An API route. It reads the raw bytes, because the signature covers them. */
export function paymentWebhook(receive: (delivery: IncomingDelivery) => Promise<unknown>) {
  // Anyone can cause rejections, so the log line has only the code, and nothing that was sent.
  return createNextApi({ receive, onRejection: ({ code }) => console.warn(code) })
}

/** The webhook alone, for the test. */
export async function createListener(receive: (delivery: IncomingDelivery) => Promise<unknown>) {
  return paymentWebhook(receive)
}
