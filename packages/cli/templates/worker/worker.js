/** Receives payment notifications in a Cloudflare Worker. Your Worker calls `webhook`, and exports `PaymentObject`. */
import { createVerifier } from '@payment-integration/webhook'
import { createWorkerHandler } from '@payment-integration/webhook/worker'

export { PaymentObject } from './payment-object.js'

/** Verifies a delivery over its raw bytes, and hands the snapshot to the Durable Object of its payment. */
export const webhook = createWorkerHandler((env) => {
  // Two secrets, separated by a comma, while the signing secret is rotated.
  const secrets = env.WEBHOOK_SIGNING_SECRET.split(',').map((secret) => secret.trim())
  const { verify } = createVerifier({ secrets })
  return {
    // Strangers can cause refusals: the line has only the code, and nothing that was sent.
    onRefusal: ({ code }) => console.warn(code),
    async receive(delivery) {
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
  async fetch(request, env, context) {
    if (new URL(request.url).pathname === '/WEBHOOK_PATH') return webhook(request, env, context)
    return new Response('Not found', { status: 404 })
  },
}
