/** The webhook of payment notifications: behind a function URL, an HTTP API or a REST API. */
import type { IncomingDelivery } from '@payment-integration/webhook'
import { createLambdaHandler } from '@payment-integration/webhook/lambda'

/** The function's handler. It reads the raw bytes of the event, because the signature covers them. */
export function paymentWebhook(receive: (delivery: IncomingDelivery) => Promise<unknown>) {
  // Anyone can cause rejections, so the log line has only the code, and nothing that was sent.
  return createLambdaHandler({ receive, onRejection: ({ code }) => console.warn(code) })
}
