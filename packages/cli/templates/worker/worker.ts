/** Receives payment notifications in a Cloudflare Worker. Your Worker calls `webhook`, and exports `PaymentObject`. */
import { createVerifier, type IncomingDelivery } from '@payment-integration/webhook'
import { createWorkerHandler } from '@payment-integration/webhook/worker'
import type { ObjectNamespace } from './payment-object.js'

export { PaymentObject } from './payment-object.js'

/** The bindings that the webhook uses. */
export interface Env {
  readonly PAYMENTS: ObjectNamespace
  readonly WEBHOOK_SIGNING_SECRET: string
}

/** The used part of the context of a request. */
export interface Context {
  waitUntil(work: Promise<unknown>): void
}

/** Verifies a delivery over its raw bytes, and hands the snapshot to the Durable Object of its payment. */
export const webhook = createWorkerHandler((env: Env) => {
  // Two secrets, separated by a comma, while the signing secret is rotated.
  const secrets = env.WEBHOOK_SIGNING_SECRET.split(',').map((secret) => secret.trim())
  const { verify } = createVerifier({ secrets })
  return {
    // Anyone can cause rejections, so the log line has only the code, and nothing that was sent.
    onRejection: ({ code }) => console.warn(code),
    async receive(delivery: IncomingDelivery) {
      const { snapshot } = await verify(delivery)
      const { integrationAddress, chainId, txHash } = snapshot
      const id = env.PAYMENTS.idFromName(`${integrationAddress}/${chainId}/${txHash}`)
      const body = JSON.stringify(snapshot)
      const response = await env.PAYMENTS.get(id).fetch('https://payment/', { method: 'POST', body })
      if (!response.ok) throw new Error(`The object of the payment answered ${response.status}.`)
      await response.body?.cancel()
    },
  }
})

export default {
  async fetch(request: Request, env: Env, context: Context): Promise<Response> {
    if (new URL(request.url).pathname === '/WEBHOOK_PATH') return webhook(request, env, context)
    return new Response('Not found', { status: 404 })
  },
}
