/** The Worker: verifies deliveries and hands them to the payment's object. @module */
import type { IncomingDelivery } from '@payment-integration/webhook'
import { createVerifier } from '@payment-integration/webhook'
import { createWorkerHandler } from '@payment-integration/webhook/worker'
import type { Env } from './platform.js'

export { PaymentObject } from './payment-object.js'

const webhook = createWorkerHandler((env: Env) => {
  const { verify } = createVerifier({ secrets: env.WEBHOOK_SIGNING_SECRET })
  return {
    // A wrong secret shows here. Anyone can cause such lines, so they have only the code and no received text.
    onRejection: ({ code }) => console.warn(`a delivery was rejected: ${code}`),
    async receive(delivery: IncomingDelivery) {
      const { snapshot } = await verify(delivery)
      const { integrationAddress, chainId, txHash } = snapshot
      const object = getObject(env, `${integrationAddress}/${chainId}/${txHash}`)
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
    const [, name] = /^\/orders\/(0x[0-9a-f]{40}\/[0-9]+\/0x[0-9a-f]{64})$/.exec(pathname) ?? []
    if (name === undefined) return new Response('Not found', { status: 404 })
    if (!(await isShop(request, env))) return new Response('Unauthorized', { status: 401 })
    if (request.method === 'GET') return getObject(env, name).fetch('https://payment/')
    if (request.method !== 'PUT') return new Response('Method not allowed', { status: 405 })
    return getObject(env, name).fetch('https://payment/', { method: 'PUT', body: await request.text() })
  },
}

/** Whether the shop's back end sent the request. Compares digests, so that timing reveals nothing about the token. */
async function isShop(request: Request, { SHOP_TOKEN }: Env): Promise<boolean> {
  if (!SHOP_TOKEN) return false
  const digest = async (text: string) =>
    new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  const given = await digest(request.headers.get('authorization') ?? '')
  const expected = await digest(`Bearer ${SHOP_TOKEN}`)
  return given.every((byte, index) => byte === expected[index])
}

function getObject(env: Env, name: string) {
  return env.PAYMENTS.get(env.PAYMENTS.idFromName(name))
}
