/** The webhook of payment notifications: behind a function URL, an HTTP API or a REST API. */
import { createLambdaHandler } from '@payment-integration/webhook/lambda'

/** The function's handler. It reads the raw bytes of the event, because the signature covers them. */
export function paymentWebhook(receive) {
  // Strangers can cause refusals: the line has only the code, and nothing that was sent.
  return createLambdaHandler({ receive, onRefusal: ({ code }) => console.warn(code) })
}
