/** Fixtures: an integration, payments of the service, and a real HTTP server. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { PaymentBody as WrittenPayment } from '@payment-integration/contract'
import { paymentWriteSchema } from '@payment-integration/contract/internal'
import { type Client, type ClientOptions, createClient, type Page, type Payment } from '../src/exports/index.js'

export const integrationAddress = '0xabcdef0123456789abcdef0123456789abcdef01'
export const apiSecret = 'sk_7Kf-ünïque/secret+with:colon'
export const encodedSecret = Buffer.from(`${integrationAddress}:${apiSecret}`, 'utf8').toString('base64')
export const wallet = '0x1111111111111111111111111111111111111111'
const token = '0x3333333333333333333333333333333333333333'

/** The hash of the `n`th payment. */
export function hashOf(n: number): string {
  return `0x${n.toString(16).padStart(64, '0')}`
}

/** A valid payment of the service; a higher `n` is older, as in a list. */
export function payment(n: number, change: Partial<WrittenPayment> = {}): Payment {
  const written: WrittenPayment = {
    integrationAddress,
    chainId: '137',
    txHash: hashOf(n),
    version: 2,
    state: 'success',
    recipient: { title: 'Café', subtitle: null },
    invoice: { amount: '12.50', currency: 'EUR', settlementAmount: '13.37', settlementCurrency: 'USD' },
    sender: wallet,
    receiver: '0x2222222222222222222222222222222222222222',
    memo: `order ${n}`,
    blockTimestamp: new Date(Date.UTC(2026, 0, 2, 3, 4, 5) - n * 1_000).toISOString(),
    source: { chainId: '1', txHash: hashOf(n) },
    tokenIn: { address: token, symbol: 'USDC', amount: '13.50' },
    tokenOut: { address: token, symbol: null, amountGross: '13.50', amountNet: '13.37' },
    ...change,
  }
  return paymentWriteSchema.parse(written) as Payment
}

/** A page of the payments with these numbers. */
export function page(numbers: readonly number[], nextCursor: string | null = null): Page {
  return { payments: numbers.map((n) => payment(n)), nextCursor }
}

/** A client with short waits between attempts, and time limits that no slow machine reaches. */
export const patience = { retryDelayMs: 1, maxRetryDelayMs: 2, timeoutMs: 600_000, totalTimeoutMs: 600_000 }
export function getClient(baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  return createClient({ baseUrl, integrationAddress, apiSecret, ...patience, ...options })
}

/** The error that a call rejects with. */
export async function catchError(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    (value) => {
      throw new Error(`expected an error, got ${JSON.stringify(value)}`)
    },
    (error: unknown) => error,
  )
}

/** A real server on a free loopback port, closed with its connections by `await using`. */
export const serve = (handle: (request: IncomingMessage, response: ServerResponse) => unknown) =>
  listen(createServer(handle))

async function listen(server: Server): Promise<{ url: string; [Symbol.asyncDispose](): Promise<void> }> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/** Answers a request with JSON. */
export function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** An answer of a test server. */
export interface Reply {
  readonly status?: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Serves these answers as JSON in turn, then always the last, and records the requests. */
export async function serveReplies(...replies: readonly [Reply, ...Reply[]]) {
  const record = ({ method, url, headers }: IncomingMessage, body: string) => ({ method, url, headers, body })
  const requests: ReturnType<typeof record>[] = []
  const server = await serve(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8')
    const { status = 200, headers: extra = {}, body: sent } = replies[requests.length] ?? (replies.at(-1) as Reply)
    requests.push(record(request, body))
    for (const [name, value] of Object.entries(extra)) response.setHeader(name, value)
    answer(response, status, sent)
  })
  return Object.assign(server, { requests })
}

/** A real proxy on a free loopback port, which opens tunnels. */
export async function startProxy() {
  const tunnels: (string | undefined)[] = []
  const proxy = createServer((_, response) => response.writeHead(405).end())
  proxy.on('connect', ({ url }, socket, head) => {
    tunnels.push(url)
    const { hostname, port } = new URL(`http://${url}`)
    const target = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      target.write(head)
      target.pipe(socket).pipe(target)
    })
    for (const end of [target, socket]) end.on('error', () => [target, socket].forEach((each) => void each.destroy()))
  })
  return Object.assign(await listen(proxy), { tunnels })
}
