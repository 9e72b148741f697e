import { gzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import {
  answer,
  catchError,
  encodedSecret,
  getClient,
  hashOf,
  integrationAddress,
  page,
  payment,
  serve,
  serveReplies,
  wallet,
} from '../test/fixtures.js'
import type { FetchFunction } from './transport-options.js'

describe('over a real connection', () => {
  test('every request carries a real Basic header and asks for JSON', async () => {
    await using server = await serveReplies({ body: page([1]) })
    await getClient(server.url).payments.list()
    const headers = { authorization: `Basic ${encodedSecret}`, accept: 'application/json' }
    expect(server.requests).toMatchObject([{ headers }])
  })

  test('each method requests the path of its endpoint, with identifiers lowercased', async () => {
    const { requests, ...server } = await serveReplies({ body: page([]) })
    await using single = await serveReplies({ body: payment(171) })
    const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`
    const client = getClient(server.url)
    await client.payments.list({ limit: 200, cursor: 'a b/+&=é' })
    await client.wallet(upper(integrationAddress)).list()
    await getClient(`${single.url}/prefix/`).payments.get(upper(hashOf(171)))
    await getClient(single.url).wallet(wallet).get(hashOf(171))
    await server[Symbol.asyncDispose]()
    expect([...requests, ...single.requests].map(({ url }) => url)).toEqual([
      '/api/v1/integration/payments?limit=200&cursor=a+b%2F%2B%26%3D%C3%A9',
      `/api/v1/integration/wallet/${integrationAddress}/payments`,
      `/prefix/api/v1/integration/payments/${hashOf(171)}`,
      `/api/v1/integration/wallet/${wallet}/payments/${hashOf(171)}`,
    ])
  })

  test('iterate reads the pages of one wallet with its page size', async () => {
    const requests: (string | undefined)[] = []
    await using server = await serve(({ url }, response) => {
      requests.push(url)
      const first = !url?.includes('cursor')
      answer(response, 200, first ? page([1, 2], 'next/1') : page([3]))
    })
    const seen: string[] = []
    for await (const { txHash } of getClient(server.url).wallet(wallet).iterate({ pageSize: 2 })) seen.push(txHash)
    expect(seen).toEqual([1, 2, 3].map(hashOf))
    const path = `/api/v1/integration/wallet/${wallet}/payments?limit=2`
    expect(requests).toEqual([path, `${path}&cursor=next%2F1`])
  })

  test('a redirect is not followed, so the credentials stay here', async () => {
    await using target = await serveReplies({ body: page([1]) })
    await using server = await serve((_, response) => response.writeHead(308, { location: target.url }).end())
    const error = await catchError(getClient(server.url).payments.list())
    expect(error).toMatchObject({ code: 'ERR_RESPONSE_INVALID', reason: 'redirect', status: 308 })
    expect(target.requests).toEqual([])
  })

  test('a truncated body counts as a failed connection and is retried', async () => {
    let tries = 0
    await using server = await serve((_, response) => {
      tries += 1
      if (tries === 3) return answer(response, 200, page([1]))
      response.writeHead(200, { 'content-length': '5000' }).write('{"payments":[')
      setImmediate(() => response.destroy())
    })
    expect(await getClient(server.url).payments.list()).toEqual(page([1]))
    expect(tries).toBe(3)
  })

  test('a closed port is ERR_NETWORK with the code of the operating system', async () => {
    const gone = await serve(() => undefined)
    await gone[Symbol.asyncDispose]()
    const error = await catchError(getClient(gone.url).payments.list())
    expect(error).toMatchObject({ code: 'ERR_NETWORK', retryable: true, reason: 'ECONNREFUSED' })
  })

  test('https to an http port is ERR_NETWORK with the code of the TLS library', async () => {
    await using server = await serve((_, response) => response.end())
    const error = await catchError(getClient(server.url.replace('http:', 'https:')).payments.list())
    expect(error).toMatchObject({ code: 'ERR_NETWORK', reason: 'ERR_SSL_WRONG_VERSION_NUMBER' })
  })

  test('the size limit counts decompressed bytes', async () => {
    const packed = gzipSync(JSON.stringify({ ...page([]), padding: 'x'.repeat(100_000) }))
    await using server = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed),
    )
    expect(packed.byteLength).toBeLessThan(1_000)
    const error = await catchError(getClient(server.url, { maxResponseBytes: 10_000 }).payments.list())
    expect(error).toMatchObject({ code: 'ERR_RESPONSE_INVALID', reason: 'too_large' })
    await expect(getClient(server.url).payments.list()).resolves.toMatchObject({ payments: [] })
  })
})

describe('time limits', () => {
  test('an attempt without an answer times out after timeoutMs and is retried', async () => {
    let tries = 0
    await using server = await serve(() => undefined)
    // Only the first attempt is sent: the second is answered before a timer can fire.
    const send: FetchFunction = async (url, init) => (++tries === 1 ? fetch(url, init) : Response.json(page([1])))
    expect(await getClient(server.url, { timeoutMs: 100, fetch: send }).payments.list()).toEqual(page([1]))
    expect(tries).toBe(2)
  })

  test('timeoutMs covers the body, not only its head', async () => {
    await using server = await serve((_, response) => void response.writeHead(200).write('{'))
    const error = await catchError(getClient(server.url, { timeoutMs: 250, maxRetries: 1 }).payments.list())
    expect(error).toMatchObject({ code: 'ERR_TIMEOUT', scope: 'try', timeoutMs: 250, retryable: true })
  })

  test('totalTimeoutMs ends the call in the middle of an attempt', async () => {
    await using server = await serve(() => undefined)
    const error = await catchError(getClient(server.url, { totalTimeoutMs: 50 }).payments.list())
    expect(error).toMatchObject({ code: 'ERR_TIMEOUT', scope: 'total', timeoutMs: 50 })
  })
})

describe('abort', () => {
  test('during a request closes its connection and ends in ERR_ABORTED', async () => {
    const controller = new AbortController()
    let closed: Promise<void> | undefined
    await using server = await serve((request) => {
      closed = new Promise((resolve) => request.once('close', resolve))
      controller.abort(new Error('the caller has its reasons'))
    })
    const error = await catchError(getClient(server.url).payments.get(hashOf(1), { signal: controller.signal }))
    expect(error).toMatchObject({ name: 'AbortedError', code: 'ERR_ABORTED', retryable: false })
    expect(closed).toBeDefined()
    await closed
  })

  test('during the wait for a retry ends it', async () => {
    const controller = new AbortController()
    await using server = await serve((_, response) => {
      response.writeHead(503, { 'retry-after': '20' }).end()
      response.once('close', () => controller.abort())
    })
    const error = await catchError(getClient(server.url).payments.list({ signal: controller.signal }))
    expect(error).toMatchObject({ code: 'ERR_ABORTED' })
  })

  test.each(['before the call', 'in its tick'])('%s asks nobody', async (when) => {
    const controller = new AbortController()
    if (when === 'before the call') controller.abort()
    const fetch = vi.fn(async () => Response.json(page([])))
    const call = catchError(getClient('http://localhost', { fetch }).payments.list({ signal: controller.signal }))
    controller.abort()
    expect(await call).toMatchObject({ code: 'ERR_ABORTED' })
    expect(fetch).not.toHaveBeenCalled()
  })

  test('a finished call leaves no listener on its signal', async () => {
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    await using server = await serveReplies({ body: page([]) })
    await getClient(server.url).payments.list({ signal })
    expect(added.mock.calls.length).toBeGreaterThan(0)
    for (const [type, listener] of added.mock.calls) expect(removed).toHaveBeenCalledWith(type, listener)
  })
})

describe('a malformed argument is rejected before any request', () => {
  const fetch = () => Promise.reject(new Error('something was sent'))
  const reader = getClient('http://localhost:1', { fetch }).payments
  // biome-ignore lint/suspicious/noExplicitAny: the types reject these values, a JavaScript caller may still pass them
  const bad: any = (value: unknown) => value

  test.each([0, 201, -1, 1.5, Number.NaN])('limit and pageSize %d', async (limit) => {
    expect(await catchError(reader.list({ limit }))).toBeInstanceOf(RangeError)
    expect(() => reader.iterate({ pageSize: limit })).toThrow(RangeError)
  })

  test.each(['50', null, {}])('limit and pageSize %j', async (limit) => {
    expect(await catchError(reader.list({ limit: bad(limit) }))).toBeInstanceOf(TypeError)
    expect(() => reader.iterate({ pageSize: bad(limit) })).toThrow(TypeError)
  })

  test.each(['', null, 7])('cursor %j', async (cursor) => {
    expect(await catchError(reader.list({ cursor: bad(cursor) }))).toBeInstanceOf(TypeError)
  })

  const hash = hashOf(1)
  test.each(['', '0x', hash.slice(0, -1), `${hash}0`, `${hash}\n`, hash.slice(2), '../payments', null])(
    'txHash %j',
    async (txHash) => expect(await catchError(reader.get(bad(txHash)))).toBeInstanceOf(TypeError),
  )

  test.each(['', '0x12', hashOf(1), '..', undefined])('wallet %j', (address) => {
    expect(() => getClient('http://localhost:1').wallet(bad(address))).toThrow(/address is not an address/)
  })

  test.each([{}, null, 'stop'])('signal %j', async (signal) => {
    expect(await catchError(reader.list({ signal: bad(signal) }))).toBeInstanceOf(TypeError)
    expect(await catchError(reader.get(hashOf(1), { signal: bad(signal) }))).toBeInstanceOf(TypeError)
    expect(() => reader.iterate({ signal: bad(signal) })).toThrow(TypeError)
  })
})
