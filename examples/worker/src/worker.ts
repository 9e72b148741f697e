/** The Worker: verifies deliveries and hands them to the payment's object. @module */
import { createVerifier } from '@payment-integration/webhook'
import { type IncomingDelivery, workerHandler } from '@payment-integration/webhook/worker'
import type { Env } from './platform.js'

export { PaymentObject } from './payment-object.js'

const webhook = workerHandler((env: Env) => {
  const { verify } = createVerifier({ secrets: env.WEBHOOK_SIGNING_SECRET })
  return {
    async receive(delivery: IncomingDelivery) {
      const { snapshot } = await verify(delivery)
      const { integrationAddress, chainId, txHash } = snapshot
      const object = objectOf(env, `${integrationAddress}/${chainId}/${txHash}`)
      const answer = await object.fetch('https://payment/', { method: 'POST', body: JSON.stringify(snapshot) })
      if (!answer.ok) throw new Error(`The payment's object answered ${answer.status}.`)
      await answer.body?.cancel()
    },
  }
})

export default {
  async fetch(request: Request, env: Env, context: { waitUntil(work: Promise<unknown>): void }): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/webhook') return webhook(request, env, context)
    // The shop's own page: a real shop asks who is looking.
    const [, name] = /^\/orders\/(0x[0-9a-f]{40}\/[0-9]+\/0x[0-9a-f]{64})$/.exec(pathname) ?? []
    return name === undefined
      ? new Response('Not found', { status: 404 })
      : objectOf(env, name).fetch('https://payment/')
  },
}

function objectOf(env: Env, name: string) {
  return env.PAYMENTS.get(env.PAYMENTS.idFromName(name))
}
