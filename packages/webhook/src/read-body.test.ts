import { once } from 'node:events'
import { Agent, createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { getCode } from '../test/get-code.js'
import { isWebhookRejection, type WebhookError } from './errors.js'
import { type ReadBodyOptions, readBody } from './read-body.js'

/** A server that answers with the length of the body, or with the status of the rejection, which it also notes. */
async function listen(options: ReadBodyOptions = {}, before: (request: IncomingMessage) => unknown = () => undefined) {
  const rejections: WebhookError[] = []
  const server = createServer(async (request, response) => {
    await before(request)
    try {
      response.end(`${(await readBody(request, options)).byteLength}`)
    } catch (error) {
      rejections.push(error as WebhookError)
      response.writeHead((error as WebhookError).status).end()
    }
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}/`, rejections }
}

const oneConnection = new Agent({ keepAlive: true, maxSockets: 1 })

/** Posts as a sender that writes its whole body before it looks for an answer. */
async function send(port: number, body: Uint8Array) {
  const outgoing = httpRequest({ port, host: '127.0.0.1', method: 'POST', agent: oneConnection })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  await new Promise((written) => outgoing.end(body, () => written(undefined)))
  const [response] = await answered
  return { status: response.statusCode, text: await text(response), reused: outgoing.reusedSocket }
}

test('returns the bytes as they arrived, in one piece', async () => {
  const pieces = [Uint8Array.of(1, 2), new Uint8Array(), Uint8Array.of(0xff, 0, 3)]
  expect(await readBody(Readable.from(pieces))).toEqual(Uint8Array.of(1, 2, 0xff, 0, 3))
  expect(await readBody(Readable.from([]))).toEqual(new Uint8Array())
})

test('maxBytes bytes pass, one more does not; 262144 unless told', async () => {
  const pieces = (size: number) => Readable.from([new Uint8Array(1), new Uint8Array(size - 1)])
  expect(await getCode(readBody(pieces(262_144)))).toBe('ok')
  expect(await getCode(readBody(pieces(262_145)))).toBe('ERR_BODY_TOO_LARGE')
  expect(await getCode(readBody(pieces(5), { maxBytes: 5 }))).toBe('ok')
  expect(await getCode(readBody(pieces(6), { maxBytes: 5 }))).toBe('ERR_BODY_TOO_LARGE')
})

test('a sender of too much hears 413 every time, and its connection stays usable', async () => {
  const { port, url } = await listen()
  for (let round = 0; round < 10; round++) {
    expect(await send(port, new Uint8Array(4_000_000))).toMatchObject({ status: 413, reused: round > 0 })
    expect(await send(port, new Uint8Array(3))).toEqual({ status: 200, text: '3', reused: true })
  }
  expect((await fetch(url, { method: 'POST', body: new Uint8Array(4_000_000) })).status).toBe(413)
})

test('a sender that breaks off is a rejection, with the reason as cause', async () => {
  const sockets: Socket[] = []
  const { port, rejections } = await listen({}, () => void sockets[0]?.destroy())
  sockets.push(connect(port, '127.0.0.1'))
  sockets[0]?.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc')
  await vi.waitUntil(() => rejections.length > 0, { timeout: 300_000 })
  expect(rejections).toMatchObject([{ code: 'ERR_BODY_UNREADABLE', status: 400, cause: { code: 'ECONNRESET' } }])
})

test.each<[string, (request: IncomingMessage) => unknown]>([
  ['that something read before', (request) => request.toArray()],
  ['that something reads already', (request) => void request.on('data', () => undefined)],
  ['that something decodes', (request) => request.setEncoding('utf8')],
])('a request %s is ERR_BODY_NOT_RAW, and the sender hears 500', async (_, before) => {
  const { port, rejections } = await listen({}, before)
  expect(await send(port, new Uint8Array(500_000))).toMatchObject({ status: 500 })
  expect(rejections).toMatchObject([{ code: 'ERR_BODY_NOT_RAW' }])
})

test.each([
  ['a parsed object', { a: 1 }, 'parsed'],
  ['nothing', undefined, 'undefined'],
  ['null', null, 'null'],
  ['text', '{}', 'string'],
  ['bytes', new Uint8Array(3), 'bytes'],
  ['a fetch request', new Request('http://127.0.0.1/', { method: 'POST', body: 'x' }), 'Request'],
  ['a stream of text', Readable.from(['text']), 'string'],
  ['a stream of objects', Readable.from([{ a: 1 }]), 'object'],
])('%s in its place is ERR_BODY_NOT_RAW', async (_, request, named) => {
  const error = await readBody(request as AsyncIterable<Uint8Array>).catch((e) => e)
  expect(error).toMatchObject({ code: 'ERR_BODY_NOT_RAW', status: 500 })
  expect(isWebhookRejection(error)).toBe(true)
  expect(error.arrived).toContain(named)
})

test('the body of a fetch request is read once; locked or read before it is ERR_BODY_NOT_RAW', async () => {
  const stream = () => new Response('abc').body as unknown as AsyncIterable<Uint8Array> & ReadableStream
  const body = stream()
  expect(await readBody(body)).toEqual(new TextEncoder().encode('abc'))
  const locked = stream()
  locked.getReader()
  expect(await getCode(readBody(locked))).toBe('ERR_BODY_NOT_RAW')
})

test.each([-1, 0.5, Number.NaN, '5'])('a maxBytes of %s is a RangeError, and nothing is read', async (maxBytes) => {
  const request = Readable.from([Uint8Array.of(1)])
  await expect(readBody(request, { maxBytes: maxBytes as number })).rejects.toThrow(RangeError)
  expect(request.readableDidRead).toBe(false)
})
