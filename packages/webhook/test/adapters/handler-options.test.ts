import { once } from 'node:events'
import { connect, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import type { HandlerOptions } from '../../src/adapters/handler-options.js'
import { createFetchHandler } from '../../src/exports/fetch.js'
import { createVerifier } from '../../src/exports/index.js'
import { createLambdaHandler } from '../../src/exports/lambda.js'
import { createNodeHandler } from '../../src/exports/node.js'
import type { TestDeliveryOptions } from '../../src/exports/testing.js'
import { createWorkerHandler } from '../../src/exports/worker.js'
import { delivery, patience, secret } from './fixture.js'

const { verify } = createVerifier({ secrets: secret })
const never = () => new Promise<never>(() => undefined)

async function request(options: Partial<TestDeliveryOptions> = {}): Promise<Request> {
  return new Request('http://127.0.0.1/webhook', { method: 'POST', ...(await delivery(options)) })
}

const getStatus = async (handle: ReturnType<typeof createFetchHandler>, sent: Request) =>
  ((await handle(sent)) as Response).status

afterEach(() => vi.useRealTimers())

test.each([
  [{ receive: undefined }, TypeError],
  [{ onError: 'log' }, TypeError],
  [{ onRejection: 1 }, TypeError],
  [{ maxBytes: -1 }, RangeError],
  [{ maxBytes: 1.5 }, RangeError],
  [{ deadlineMs: 0 }, RangeError],
  [{ deadlineMs: Number.NaN }, RangeError],
  [{ deadlineMs: 60_001 }, RangeError],
])('%j is rejected when the handler is made', (unusable, kind) => {
  const options = { receive: verify, ...unusable } as HandlerOptions
  for (const make of [createNodeHandler, createFetchHandler, createLambdaHandler, createWorkerHandler])
    expect(() => make(options)).toThrow(kind)
})

test('the answer comes after 4.5 seconds at the latest', async () => {
  const sent = await request()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let status: number | undefined
  void getStatus(createFetchHandler({ receive: never, onError: () => undefined }), sent).then((given) => {
    status = given
  })
  await vi.advanceTimersByTimeAsync(4499)
  expect(status).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  expect(status).toBe(503)
})

test('nothing waits after an answer: the timer of the deadline is gone', async () => {
  const sent = await request()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  expect(await getStatus(createFetchHandler({ receive: verify }), sent)).toBe(204)
  expect(vi.getTimerCount()).toBe(0)
})

test('without onError the error goes to console.error', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => printed.mockRestore())
  const broken = new Error('no such table')
  expect(await getStatus(createFetchHandler({ receive: () => Promise.reject(broken) }), await request())).toBe(500)
  expect(printed.mock.calls).toEqual([[broken]])
})

test('a Worker makes its options once per set of bindings, and lets late work end under waitUntil', async () => {
  const kept: Promise<unknown>[] = []
  const made: object[] = []
  let finish: () => void = () => undefined
  const receive = () => new Promise<void>((done) => (finish = done))
  const fetch = createWorkerHandler((env: object) => {
    made.push(env)
    return { receive, deadlineMs: 10, onError: () => undefined }
  })
  const [env, other] = [{}, {}]
  const context = { waitUntil: (work: Promise<unknown>) => void kept.push(work) }
  expect(await getStatus((sent) => fetch(sent, env, context), await request())).toBe(503)
  expect(await getStatus((sent) => fetch(sent, env, context), await request())).toBe(503)
  expect(await getStatus((sent) => fetch(sent, other, context), await request())).toBe(503)
  expect([made, kept.length]).toEqual([[env, other], 3])
  finish()
  await kept[2]
})

test('a Worker whose options cannot be made rejects, so that the runtime reports it', async () => {
  const fetch = createWorkerHandler(() => ({ receive: createVerifier({ secrets: '' }).verify }))
  await expect(fetch(await request(), {}, { waitUntil: () => undefined })).rejects.toThrow(TypeError)
})

test('a request that a time-out of the host answered is left alone', async () => {
  const { headers, body } = await delivery()
  const { Readable } = await import('node:stream')
  const incoming = Object.assign(Readable.from([Buffer.from(body)]), {
    method: 'POST',
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), `${value}`])),
  })
  const response = { statusCode: 200, headersSent: true, setHeader: vi.fn(), end: vi.fn() }
  await createNodeHandler({ receive: verify })(incoming, response)
  expect([response.statusCode, response.setHeader.mock.calls, response.end.mock.calls]).toEqual([200, [], []])
})

test('createNodeHandler serves HTTP/2', async () => {
  const handle = createNodeHandler({ receive: verify })
  const server = createHttp2Server((incoming, outgoing) => void handle(incoming, outgoing)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(async () => {
    session.destroy()
    await new Promise((closed) => server.close(closed))
  })
  const post = async (options: Partial<TestDeliveryOptions> = {}) => {
    const { headers, body } = await delivery(options)
    const stream = session.request({ ':method': 'POST', ':path': '/webhook', ...headers })
    stream.end(body)
    const [answer] = (await once(stream, 'response')) as [Record<string, unknown>]
    return answer[':status']
  }
  expect([await post(), await post({ fault: 'forged' }), await post({ ageSeconds: 400 }), await post()]).toEqual([
    204, 401, 400, 204,
  ])
})

/** A fetch request whose body comes as `pull` gives it, and what became of it. */
async function streamed(ageSeconds: number, pull: () => Uint8Array | Promise<Uint8Array>) {
  const state = { pulledBytes: 0, canceled: false }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await pull()
      state.pulledBytes += chunk.byteLength
      controller.enqueue(chunk)
    },
    cancel() {
      state.canceled = true
    },
  })
  const { headers } = await delivery({ ageSeconds })
  return {
    state,
    request: new Request('http://127.0.0.1/webhook', { method: 'POST', headers, body, duplex: 'half' } as RequestInit),
  }
}

test('a fetch body that does not come is canceled at the deadline', async () => {
  const { state, request: slow } = await streamed(0, never)
  expect(await getStatus(createFetchHandler({ receive: verify, deadlineMs: 20 }), slow)).toBe(408)
  await expect.poll(() => state.canceled, patience).toBe(true)
})

test('of a fetch body that was rejected unread, 4 MiB and one deadline at most are thrown away', async () => {
  const handle = createFetchHandler({ receive: verify, deadlineMs: 200 })
  const endless = await streamed(400, () => new Uint8Array(65_536))
  const slow = await streamed(400, never)
  expect([await getStatus(handle, endless.request), await getStatus(handle, slow.request)]).toEqual([400, 400])
  await expect.poll(() => [endless.state.canceled, slow.state.canceled], patience).toEqual([true, true])
  expect(endless.state.pulledBytes).toBeGreaterThan(4_194_304)
  expect(endless.state.pulledBytes).toBeLessThan(4_500_000)
})
