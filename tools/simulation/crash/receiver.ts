/**
 * Integrators' endpoints in one HTTP server. They record every byte, and answer 2xx, errors or nothing by seed. They
 * use no product code: each signature is recomputed over the captured bytes with `node:crypto`.
 *
 * @module
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Draws } from '../random.js'

/** A delivery as received. */
export interface Captured {
  /** The integration of its path. */
  readonly integrationAddress: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The answered status; null: no answer. */
  readonly status: number | null
  /** Whether the endpoint counted the delivery as accepted. The answer may be lost. */
  readonly accepted: boolean
}

export interface CrashReceiver {
  /** The notification URL of an integration. */
  getUrl(integrationAddress: string): string
  readonly captured: readonly Captured[]
  /** From now on accepts every delivery with 204. */
  heal(): void
  close(): Promise<void>
}

/** An endpoint's answer. */
type Answer = Pick<Captured, 'status' | 'accepted'> & { readonly retryAfter?: string; readonly hangs?: boolean }

const accepted: Answer = { status: 204, accepted: true }

/** Opens the endpoints on a free port. Some are down until they are healed. */
export async function openReceiver(draws: Draws, integrations: readonly string[]): Promise<CrashReceiver> {
  const captured: Captured[] = []
  const down = new Set(integrations.filter(() => draws.chance(0.3)))
  let isHealed = false
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { headers, url = '' } = request
      const integrationAddress = url.slice('/hooks/'.length)
      const answer = isHealed ? accepted : getAnswer(draws, down.has(integrationAddress))
      const { status } = answer
      captured.push({ integrationAddress, headers, body: Buffer.concat(chunks), status, accepted: answer.accepted })
      send(answer, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    getUrl: (integrationAddress) => `http://127.0.0.1:${port}/hooks/${integrationAddress}`,
    captured,
    heal() {
      isHealed = true
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function getAnswer(draws: Draws, isDown: boolean): Answer {
  const draw = draws.fraction()
  if (isDown) return draw < 0.5 ? { status: 503, accepted: false } : { status: null, accepted: false }
  if (draw < 0.08) return { status: 500, accepted: false }
  if (draw < 0.1) return { status: 429, accepted: false, retryAfter: '7' }
  if (draw < 0.11) return { status: 302, accepted: false }
  if (draw < 0.14) return { status: 410, accepted: false }
  if (draw < 0.16) return { status: null, accepted: false }
  // The endpoint accepts the delivery, but the answer is lost: the connection breaks, or the endpoint hangs.
  if (draw < 0.2) return { status: null, accepted: true }
  if (draw < 0.22) return { status: null, accepted: true, hangs: true }
  return accepted
}

function send({ status, retryAfter, hangs = false }: Answer, response: ServerResponse): void {
  // The client times out and closes the connection.
  if (hangs) return
  if (status === null) response.destroy()
  else
    response
      .writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter })
      .end(status === 204 ? '' : 'no')
}

/**
 * Whether a delivery has the right signature: `t=<seconds>,v1=<HMAC-SHA256 over "<seconds>." and the body>`. Source:
 * docs/interface.md 6.
 */
export function isSigned({ headers, body, integrationAddress }: Captured, secret: string): boolean {
  const header = String(headers['x-service-signature'])
  const [, time, code] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? []
  if (time === undefined || code === undefined) return false
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest()
  return timingSafeEqual(expected, Buffer.from(code, 'hex')) && headers['x-service-integration'] === integrationAddress
}
