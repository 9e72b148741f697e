/** The caller's own `fetch`: of the npm package undici, through a proxy, of another realm. */
import { createContext, runInContext } from 'node:vm'
import { ProxyAgent, fetch as undiciFetch } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { catchError, getClient, page, serveReplies, startProxy } from './fixtures.js'
import { shareResponse, submission } from './share-fixtures.js'

const baseUrl = 'https://payments.example.com'

test('the fetch of the npm package undici reaches the service through a proxy, by its ProxyAgent', async () => {
  await using server = await serveReplies({ body: page([1]) })
  await using proxy = await startProxy()
  const dispatcher = new ProxyAgent(proxy.url)
  onTestFinished(() => dispatcher.destroy())
  const client = getClient(server.url, { fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }) })
  expect(await client.payments.list()).toEqual(page([1]))
  expect(proxy.tunnels).toEqual([new URL(server.url).host])
  expect(server.requests).toHaveLength(1)
})

test('a fetch is called with a URL and plain values, never with a Request', async () => {
  const calls: unknown[][] = []
  const fetch = async (...call: unknown[]) => {
    calls.push(call)
    return Response.json(calls.length === 1 ? page([]) : shareResponse())
  }
  const client = getClient('https://payments.example.com/pay', { fetch })
  await client.payments.list({ limit: 2 })
  await client.identity.share(submission)
  const body = JSON.stringify(submission)
  const headers = { accept: 'application/json', authorization: expect.stringMatching(/^Basic /) }
  const init = { method: 'GET', headers, redirect: 'manual', signal: expect.any(AbortSignal) }
  const posted = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
  expect(calls).toEqual([
    ['https://payments.example.com/pay/api/v1/integration/payments?limit=2', init],
    ['https://payments.example.com/pay/api/v1/integration/idv-share-token', { ...init, ...posted, body }],
  ])
})

describe('of another realm', () => {
  const realm = createContext({ TextEncoder })

  test('bytes of an answer are read', async () => {
    const bytes = runInContext(`new Uint8Array(${JSON.stringify([...Buffer.from(JSON.stringify(page([1])))])})`, realm)
    expect(bytes).not.toBeInstanceOf(Uint8Array)
    const halves = [bytes.subarray(0, 9), bytes.subarray(9)]
    const read = async () => ({ done: halves.length === 0, value: halves.shift() })
    const body = { getReader: () => ({ read, cancel: async () => undefined }), cancel: async () => undefined }
    const answer = { status: 200, type: 'basic', headers: { get: () => null }, body }
    const fetch = async () => answer as unknown as Response
    expect(await getClient(baseUrl, { fetch }).payments.list()).toEqual(page([1]))
  })

  test('an error of a fetch keeps its reason', async () => {
    const fetch = () =>
      runInContext(
        "Promise.reject(new TypeError('no way', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) }))",
        realm,
      )
    const error = await catchError(getClient(baseUrl, { fetch }).payments.list())
    expect(error).toMatchObject({ code: 'ERR_NETWORK', reason: 'ECONNRESET' })
  })

  test('an error of random is rethrown unchanged, and not retried', async () => {
    const bug = runInContext("new ReferenceError('random is not defined')", realm)
    let tries = 0
    const fetch = async () => new Response(null, { status: tries++ === 0 ? 503 : 500 })
    const random = () => {
      throw bug
    }
    expect(await catchError(getClient(baseUrl, { fetch, random }).payments.list())).toBe(bug)
    expect(tries).toBe(1)
  })

  test('a URL is a base URL', async () => {
    await using server = await serveReplies({ body: page([]) })
    // A vm context has no URL: one of another realm has its shape and not its class.
    const baseUrl = runInContext(`({ href: '${server.url}/', toString() { return this.href } })`, realm)
    expect(await getClient(baseUrl).payments.list()).toEqual(page([]))
  })
})

describe("the message of a failure of the caller's fetch", () => {
  const getMessage = async (failure: unknown) => {
    const fetch = () => Promise.reject(failure)
    const error = await catchError(getClient(baseUrl, { fetch, maxRetries: 0 }).payments.list())
    expect(error).toMatchObject({ code: 'ERR_NETWORK', retryable: true })
    return (error as Error).message
  }
  const end = '. Check baseUrl and the network, then try again.'

  test('is kept, with the messages of its causes', async () => {
    const failure = new Error('no route', { cause: new Error('the tunnel is closed.') })
    expect(await getMessage(failure)).toBe(`The connection to the service failed: no route: the tunnel is closed${end}`)
    expect(await getMessage('a text')).toBe(`The connection to the service failed: a text${end}`)
  })

  test('is one short line', async () => {
    const message = await getMessage(new Error(`a\r\n\u0000b${'c'.repeat(10_000)}`))
    expect(message).toMatch(/^The connection to the service failed: a bc{100,}\. Check/)
    expect(message.length).toBeLessThan(400)
  })

  test.each([
    'GET https://user:password@proxy.example failed',
    'header "authorization: x" is not valid',
    'proxy wants Basic c2VjcmV0',
    'Bearer abc is expired',
  ])('is dropped when it may hold a credential: %s', async (text) => {
    expect(await getMessage(new Error('outer', { cause: new Error(text) }))).toBe(
      `The connection to the service failed${end}`,
    )
  })

  test.each([undefined, null, 7, {}, new Error('')])('is absent for %s', async (failure) => {
    expect(await getMessage(failure)).toBe(`The connection to the service failed${end}`)
  })
})
