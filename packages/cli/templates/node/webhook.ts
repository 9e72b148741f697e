/** The webhook of payment notifications, for a server of `node:http`: call `paymentWebhook(receive)` for its path. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { IncomingDelivery } from '@payment-integration/webhook'
import { createNodeHandler } from '@payment-integration/webhook/node'

/** Handles a request. It reads the raw bytes, because the signature covers them: call it before any body parser. */
export function paymentWebhook(receive: (delivery: IncomingDelivery) => Promise<unknown>) {
  // Anyone can cause rejections, so the log line has only the code, and nothing that was sent.
  return createNodeHandler({ receive, onRejection: ({ code }) => console.warn(code) })
}

/** The webhook alone, for `npm run payments` and the test. */
export async function createListener(receive: (delivery: IncomingDelivery) => Promise<unknown>) {
  const handler = paymentWebhook(receive)
  return (request: IncomingMessage, response: ServerResponse) => {
    const [path] = (request.url ?? '').split('?')
    if (path === '/WEBHOOK_PATH') void handler(request, response)
    else response.writeHead(404).end()
  }
}
