/** A service with data for every operation, and one good request for each. */
import type { DeliveryStreams } from '@payment-integration/core/internal'
import { createWebhookReader } from '@payment-integration/identity-sumsub/service'
import { createHealth } from '../../src/app/health.js'
import { processorSignature, receiveUpdate } from './clause-service.js'
import type { RawAnswer } from './document-check.js'
import { listenApp } from './listening-app.js'
import { parseRaw, requestText, sendRaw } from './raw-http.js'
import { startSharing } from './sharing-service.js'

/** A request byte by byte: two headers of one name stay two. */
export interface SentRequest {
  readonly method: 'GET' | 'POST'
  readonly target: string
  readonly headers?: readonly string[]
  readonly body?: string
}

const word = (byte: string) => `0x${byte.repeat(32)}`
const address = (byte: string) => `0x${byte.repeat(20)}`

export const wallet = address('d1')
export const hashes = { single: word('a1'), onTwoChains: word('a2'), unknown: word('a9') }
const json = 'Content-Type: application/json'

/** Sends a request and resolves the answer. */
export async function send(url: string, { method, target, headers = [], body }: SentRequest): Promise<RawAnswer> {
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const text = requestText(target, [...headers, ...length], { method, body: body ?? '' })
  const answer = parseRaw(await sendRaw(url, text))
  return { ...answer, body: Buffer.from(answer.body, 'latin1').toString('utf8') }
}

/** A signed processor update. */
export function signedUpdate(content: object): SentRequest {
  const body = JSON.stringify(content)
  const headers = [json, `X-Service-Signature: ${processorSignature(body)}`]
  return { method: 'POST', target: '/api/v1/processor/updates', headers, body }
}

/** Streams that end once their backlog is sent, so that an answer is complete. */
function endingStreams(streams: DeliveryStreams): DeliveryStreams {
  async function* untilLive(messages: ReturnType<DeliveryStreams['open']>) {
    for await (const message of messages ?? []) {
      yield message
      if (message.kind === 'live') return
    }
  }
  return { ...streams, open: (request) => untilLive(streams.open(request)) }
}

/**
 * Starts it on a real store, beside an identity provider, with two payments of one integration on one chain and one of
 * them on another, too.
 */
export async function startDocumented() {
  const clauses = await startSharing()
  const shop = await clauses.createShop(address('e1'))
  const { apiKey } = await clauses.service.legacyKeys.create()
  const mined = { integrationAddress: shop.address, sender: wallet }
  clauses.chain(1).mine([{ ...mined, txHash: hashes.single }])
  clauses.chain(1).mine([{ ...mined, txHash: hashes.onTwoChains }])
  clauses.chain(10).mine([{ ...mined, txHash: hashes.onTwoChains }])
  await clauses.index()
  const app = await listenApp({
    service: clauses.service,
    receiveUpdate,
    readWebhook: createWebhookReader({ secret: 'secret-of-the-webhook' }),
    health: createHealth({ store: clauses.store, indexers: clauses.service.indexers }),
    reference: true,
    streams: endingStreams(clauses.service.deliveryStreams),
  })
  const basic = `Authorization: ${shop.authorization}`
  const key = `Authorization: Bearer ${apiKey}`
  const base = '/api/v1/integration'
  const invoice = { invoiceAmount: '12.5', invoiceCurrency: 'USD' }
  const payment = { chainId: 1, txHash: hashes.single, ...invoice, address: address('66') }

  return {
    clauses,
    shop,
    app: app.app,
    url: app.url,
    payment,
    read: (path: string): SentRequest => ({ method: 'GET', target: `${base}${path}`, headers: [basic] }),
    lookup: (path: string): SentRequest => ({ method: 'GET', target: `/api/v1/tx/${path}`, headers: [key] }),
    verify: (body: string, headers = [json]): SentRequest => ({
      method: 'POST',
      target: '/api/v1/verify',
      headers: [key, ...headers],
      body,
    }),
    share: (body: string, headers = [json], authorization = shop.authorization): SentRequest => ({
      method: 'POST',
      target: `${base}/idv-share-token`,
      headers: [`Authorization: ${authorization}`, ...headers],
      body,
    }),
    /** One request per operation that gets the operation's own answer when all is well. */
    good(): readonly SentRequest[] {
      return [
        this.read('/payments?limit=1'),
        this.read(`/payments/${hashes.single}`),
        this.read(`/wallet/${wallet}/payments`),
        this.read(`/wallet/${wallet}/payments/${hashes.single}`),
        this.lookup(`1/${hashes.single}`),
        this.verify(JSON.stringify(payment)),
        signedUpdate({ id: 'good', chainId: '1', txHash: hashes.single, recipient: { title: 'Café', subtitle: null } }),
        this.read('/deliveries/stream?since=0'),
        this.share(JSON.stringify({ email: 'user@shop.example', kycShareToken: clauses.mint() })),
        { method: 'GET', target: '/health' },
        { method: 'GET', target: '/health/live' },
      ]
    },
    async stop() {
      await app.stop()
      await clauses.stop()
    },
  }
}

export type Documented = Awaited<ReturnType<typeof startDocumented>>
