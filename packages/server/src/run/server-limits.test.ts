/** Reaches the server's limits with small values: slow, silent and greedy clients, and many connections. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { chosenService, goodAuthorization, heldReads, withReads } from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { type Exchange, exchange } from '../../test/support/raw-exchange.js'
import { eventually } from '../../test/support/tcp-server.js'
import { createSourceReader } from '../limits/request-limits.js'
import type { ServerLimits } from './http-server.js'

let http: Awaited<ReturnType<typeof listenApp>>

async function start(...args: Parameters<typeof listenApp>): Promise<void> {
  http = await listenApp(...args)
  onTestFinished(() => http.stop(2_000))
}

async function listen(limits: Partial<ServerLimits>, service = chosenService()): Promise<void> {
  await start({ service, receiveUpdate: async () => ({ kind: 'unauthenticated' }) }, { limits })
}

async function open(text = ''): Promise<Exchange> {
  const connection = await exchange(http.url)
  onTestFinished(connection.destroy)
  connection.send(text)
  return connection
}
/** Connects and sends until the server reads: on a slow machine a silence may be over before. */
async function openUntil(isRead: () => boolean, text: string): Promise<Exchange> {
  const connection = await open(text)
  await Promise.race([connection.closed, eventually(isRead)])
  return isRead() ? connection : openUntil(isRead, text)
}
const list = `GET /api/v1/integration/payments HTTP/1.1\r\nHost: a\r\nAuthorization: ${goodAuthorization}\r\n\r\n`
const json = 'Content-Type: application/json\r\n'
const update = (rest: string) => `POST /api/v1/processor/updates HTTP/1.1\r\nHost: a\r\n${json}${rest}`
const slowHead = { headersTimeoutMs: 150, requestTimeoutMs: 60_000, checkIntervalMs: 25 }
const slowBody = { headersTimeoutMs: 200, requestTimeoutMs: 200, checkIntervalMs: 25 }
const slowKinds = [
  ['the first line', slowHead, 'GE', ''],
  ['the headers', slowHead, 'GET /health/live HTTP/1.1\r\nHost: a\r\n', 'X: a\r\n'],
  ['the body', slowBody, update('Content-Length: 10000\r\n\r\n{'), ' '],
  ['the chunks', slowBody, update('Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n'), '1\r\n \r\n'],
] as const

describe('a client that is slow', () => {
  it.each(slowKinds)('with %s gets 408 when its time is up, even if it keeps sending a little', async (_, ...kind) => {
    const [limits, start, drip] = kind
    await listen(limits)
    const slow = await open(start)
    const timer = setInterval(() => slow.send(drip), 20)
    const [answer] = await slow.answers(1)
    await slow.closed
    clearInterval(timer)
    expect([answer?.status, answer?.headers.get('cache-control')]).toEqual([408, 'private, no-store'])
  })

  it('in reading its answers is disconnected after a silence, and its requests are not read meanwhile', async () => {
    let asked = 0
    const service = chosenService()
    const memo = 'm'.repeat(1_000_000)
    const slow = withReads(service, {
      async listPayments() {
        asked++
        return { payments: [{ memo }] as never, nextCursor: null }
      },
    })
    await listen({ silenceTimeoutMs: 300 }, slow)
    const greedy = await openUntil(() => asked > 0, list)
    greedy.pause()
    for (let n = 0; n < 499; n++) greedy.send(list)
    // A client that reads nothing notices the close by a failure to send.
    const timer = setInterval(() => greedy.send(list), 50)
    await greedy.closed
    clearInterval(timer)
    // Eight at once, and those whose answers the kernel took: some megabytes of 500.
    expect(asked).toBeLessThan(100)
    expect((await fetch(`${http.url}/health/live`)).status).toBe(200)
  })
})

describe('a connection', () => {
  it('is not closed as silent while its request is in progress', async () => {
    const { service, release, asked } = heldReads(chosenService())
    await listen({ silenceTimeoutMs: 100 }, service)
    const working = await openUntil(() => asked() === 1, list)
    // Each became silent before the request in progress, so its time was up earlier.
    for (let round = 0; round < 3; round++) await (await open()).closed
    release()
    expect((await working.answers(1)).map(({ status }) => status)).toEqual([200])
  })

  it('closes after its last request, whose answer says so; later requests get no answer', async () => {
    const service = chosenService()
    await listen({ maxRequestsPerSocket: 3 }, service)
    const connection = await open(list.repeat(5))
    const answers = await connection.answers(5)
    expect(answers.map(({ status, headers }) => [status, headers.get('connection')])).toEqual([
      [200, 'keep-alive'],
      [200, 'keep-alive'],
      [200, 'close'],
    ])
    await connection.closed
    expect(connection.rest()).toBe('')
    expect(service.calls).toHaveLength(3)
  })

  it('has eight requests in progress at most, and answers a pipeline in order', async () => {
    let busy = 0
    let most = 0
    const service = chosenService()
    const slow = withReads(service, {
      async listPayments({ limit }: { readonly limit?: string | undefined }) {
        most = Math.max(most, ++busy)
        await new Promise((resolve) => setImmediate(resolve))
        busy--
        return { payments: [], nextCursor: limit ?? null }
      },
    })
    await listen({}, slow)
    const numbers = Array.from({ length: 100 }, (_, n) => String(n))
    const headers = `HTTP/1.1\r\nHost: a\r\nAuthorization: ${goodAuthorization}\r\n\r\n`
    const pipeline = numbers.map((n) => `GET /api/v1/integration/payments?limit=${n} ${headers}`)
    const answers = await (await open(pipeline.join(''))).answers(100)
    expect(answers.map(({ body }) => JSON.parse(body).nextCursor)).toEqual(numbers)
    expect(most).toBe(8)
  })
})

it('garbage after a request is rejected once that request has its answer', async () => {
  const { service, release } = heldReads(chosenService())
  await listen({}, service)
  const connection = await open(`${list}\0garbage`)
  connection.send('more of it')
  // A later answer proves that earlier bytes have arrived.
  await fetch(`${http.url}/health/live`)
  release()
  expect((await connection.answers(3)).map(({ status }) => status)).toEqual([200, 400])
  await connection.closed
})

const live = 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n'

async function listenLimited(maxPerSource: number, findConnectionSource?: () => string | null): Promise<void> {
  const sources = findConnectionSource === undefined ? createSourceReader() : { findConnectionSource }
  await start({}, { connections: { maxPerSource, sources } })
}

/** Connects and sends a request; resolves the status, or null when the server closed. */
async function ask() {
  const connection = await open(live)
  const [answer] = await connection.answers(1)
  return { connection, status: answer?.status ?? null }
}

describe('connections per source', () => {
  it('beyond the limit are closed at once, and the others are served', async () => {
    await listenLimited(2)
    const [first, second] = [await ask(), await ask()]
    expect([first.status, second.status]).toEqual([200, 200])
    expect([(await ask()).status, (await ask()).status]).toEqual([null, null])
    first.connection.send(live)
    expect((await first.connection.answers(1))[0]?.status).toBe(200)
  })

  it('are counted down when one closes; a rejected one was never counted', async () => {
    await listenLimited(1)
    const { connection } = await ask()
    for (let times = 0; times < 5; times += 1) expect((await ask()).status).toBe(null)
    connection.destroy()
    // The server notices it a moment later.
    while ((await ask()).status === null) {}
    expect((await ask()).status).toBe(null)
  })

  it('are counted by source, and those without a source, such as of a trusted proxy, are unlimited', async () => {
    const sources = ['a', 'b', null, null]
    await listenLimited(1, () => sources.pop() ?? null)
    for (let times = 0; times < 4; times += 1) expect((await ask()).status).toBe(200)
  })
})
