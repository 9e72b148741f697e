/** Polls a processor over HTTP for outcomes. Source: docs/decisions/processor-updates.md. @module */
import { unescape as unescapeLeniently } from 'node:querystring'
import { type ProcessorUpdate, signatureHeader } from '@payment-integration/contract'
import { parseUrl } from '@payment-integration/contract/internal'
import { startTimeLimit } from '@payment-integration/contract/internal-io'
import type { UpdateReceiver } from '@payment-integration/core'
import type { ReceiptSource, StoredPayment } from '@payment-integration/core/ports'
import type { Dispatcher } from 'undici'
import { ServerError } from '../errors.js'
import { createAgent } from '../internal/outgoing-fetch.js'

/** The processor's address, and the limits of an answer. */
export interface HttpReceiptSourceOptions {
  /** Base URL: the source gets `<url>/<chainId>/<txHash>`, with its user and password as Basic credentials. */
  readonly url: string
  /** Verifies the answer's signature and parses it, like an update that the processor sends. */
  readonly receiveUpdate: UpdateReceiver
  /** Longest time for one request, in milliseconds. @default 5000 */
  readonly timeoutMs?: number | undefined
  /** Largest answer, in bytes. @default 16384 */
  readonly maxBytes?: number | undefined
}

export interface ClosableReceiptSource extends ReceiptSource {
  close(): Promise<void>
}

/** No usable receipt was received. The next round polls the payment again. */
export class ReceiptError extends ServerError {
  override readonly name = 'ReceiptError'
  override readonly retryable = true
  readonly code: 'ERR_RECEIPT_UNAVAILABLE' | 'ERR_RECEIPT_INVALID'
  constructor(code: ReceiptError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/**
 * Creates a receipt source over HTTP: the processor answers 200 with a signed update, or 404. Redirects are not
 * followed. `lookup` rejects with {@link ReceiptError}. `ERR_RECEIPT_UNAVAILABLE`: no answer in time, or another
 * status. `ERR_RECEIPT_INVALID`: the answer is too large, not signed by the processor, malformed, or about another
 * payment.
 * @throws TypeError When `url` is not an http(s) URL, or has a query or a fragment.
 * @example
 * import { createUpdateReceiver, systemClock } from '@payment-integration/core'
 * import { createHttpReceiptSource } from '@payment-integration/server'
 * const receiveUpdate = createUpdateReceiver({ secrets: ['whsec_processor'], clock: systemClock })
 * const source = createHttpReceiptSource({ url: 'https://processor.example/receipts', receiveUpdate })
 */
export function createHttpReceiptSource(options: HttpReceiptSourceOptions): ClosableReceiptSource {
  const { receiveUpdate, timeoutMs = 5_000, maxBytes = 16_384 } = options
  const { origin, path, headers } = parseBase(options.url)
  const agent = createAgent(timeoutMs)
  return {
    async lookup(payment, signal) {
      const { chainId, txHash, integrationAddress } = payment
      const query = integrationAddress === null ? '' : `?integrationAddress=${integrationAddress}`
      const request = { origin, path: `${path}/${chainId}/${txHash}${query}`, method: 'GET', headers } as const
      const limit = startTimeLimit(timeoutMs, signal)
      try {
        const exchange = agent
          .request({ ...request, signal: limit.signal })
          .then((response) => readAnswer(response, maxBytes))
        const answer = await Promise.race([exchange, limit.whenAborted])
        return answer === null ? null : await parseReceipt(answer, payment, receiveUpdate)
      } catch (error) {
        if (error instanceof ReceiptError) throw error
        throw new ReceiptError('ERR_RECEIPT_UNAVAILABLE', `No receipt within ${timeoutMs} ms.`, { cause: error })
      } finally {
        limit.end()
      }
    },
    close: () => agent.destroy(),
  }
}

async function readAnswer({ statusCode, headers, body }: Dispatcher.ResponseData, maxBytes: number) {
  if (statusCode !== 200) {
    await body.dump({ limit: maxBytes }).catch(() => undefined)
    if (statusCode === 404) return null
    throw new ReceiptError('ERR_RECEIPT_UNAVAILABLE', `The receipt source answered ${statusCode}; expected 200 or 404.`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    // Throwing out of the loop destroys the stream and its connection.
    if (size > maxBytes) throw new ReceiptError('ERR_RECEIPT_INVALID', `A receipt is larger than ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  const signature = headers[signatureHeader.toLowerCase()]
  return { body: Buffer.concat(chunks), signature: typeof signature === 'string' ? signature : null }
}

async function parseReceipt(
  answer: Parameters<UpdateReceiver>[0],
  payment: StoredPayment,
  receiveUpdate: UpdateReceiver,
): Promise<ProcessorUpdate> {
  const received = await receiveUpdate(answer)
  switch (received.kind) {
    case 'unauthenticated':
      throw new ReceiptError('ERR_RECEIPT_INVALID', `A receipt has no valid ${signatureHeader} of the processor.`)
    case 'invalid':
      throw new ReceiptError('ERR_RECEIPT_INVALID', `A receipt is malformed: ${received.message}.`)
    case 'updates':
      throw new ReceiptError('ERR_RECEIPT_INVALID', 'A receipt is malformed: it has several updates.')
    case 'update':
      if (isAboutPayment(received.update, payment)) return received.update
      throw new ReceiptError('ERR_RECEIPT_INVALID', 'A receipt is about another payment than the one asked for.')
  }
}

function isAboutPayment({ chainId, txHash, integrationAddress }: ProcessorUpdate, payment: StoredPayment): boolean {
  const isSameIntegration =
    integrationAddress === undefined || integrationAddress.toLowerCase() === payment.integrationAddress
  return chainId === String(payment.chainId) && txHash.toLowerCase() === payment.txHash && isSameIntegration
}

function parseBase(text: string): { origin: string; path: string; headers: Record<string, string> } {
  const url = parseUrl(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new TypeError('The receipts address must be an http(s) URL without query or fragment.')
  const credentials = `${unescapeLeniently(url.username)}:${unescapeLeniently(url.password)}`
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  return {
    origin: url.origin,
    path: url.pathname.replace(/\/{1,64}$/, ''),
    headers: { accept: 'application/json', ...(credentials === ':' ? {} : { authorization }) },
  }
}
