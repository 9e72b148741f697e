import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createFetchSender, createSocketSender, type DoctorFetch } from './send.js'

const delivery = { headers: {}, body: new Uint8Array(64) }
const long = 300_000
const now = () => 1_700_000_000_000

/** A server that accepts connections and never sends a byte, so that no TLS handshake ends. */
async function silent() {
  const server = createServer((socket) => void socket.on('error', () => undefined))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return { url: new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`), server }
}

test('a broken upload to a receiver that never takes it ends after the wait', async () => {
  const { url } = await silent()
  const { sockets } = createSocketSender({ url, waitMs: 50, signal: undefined, now })
  await expect(sockets?.breakUpload(delivery)).resolves.toBeUndefined()
})

test('a broken upload ends when the run is aborted', async () => {
  const { url, server } = await silent()
  const stop = new AbortController()
  const { sockets } = createSocketSender({ url, waitMs: long, signal: stop.signal, now })
  const connected = once(server, 'connection')
  const broken = sockets?.breakUpload(delivery)
  await connected
  stop.abort(new Error('enough'))
  await expect(broken).rejects.toThrow('enough')
})

/** A receiver that answers each request with these bytes, and keeps what it read. */
async function answering(bytes: string) {
  const read: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      read.push(chunk.toString())
      socket.write(bytes)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=b`), read }
}

const ok = 'HTTP/1.1 204 No Content\r\n\r\n'
test.each([
  ['an unasked 100', `HTTP/1.1 100 Continue\r\n\r\n${ok}`],
  ['several informational answers', `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(3)}${ok}`],
  ['a folded header field', 'HTTP/1.1 204 No Content\r\nX-Note: one\r\n two\r\n\r\n'],
  ['a body that never ends', 'HTTP/1.1 204\r\n\r\n'.replace('204', '200 OK\r\nContent-Length: 9')],
  ['a body of over 64 KiB', `HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(100_000)}`],
])('%s does not hide the status, as at the service', async (_, bytes) => {
  const { url } = await answering(bytes)
  const answer = await createSocketSender({ url, waitMs: long, signal: undefined, now }).send(delivery)
  expect(answer).toMatchObject({ status: expect.toSatisfy((status) => [200, 204].includes(status)), noAnswer: null })
})

test.each([
  ['bare line feeds', 'HTTP/1.1 204 No Content\n\n'],
  ['a bad field name', 'HTTP/1.1 204 No Content\r\nX Note: one\r\n\r\n'],
  ['a head over 16 KiB', `HTTP/1.1 204 No Content\r\nX-Note: ${'a'.repeat(17_000)}\r\n\r\n`],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ['101', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
  ['no HTTP', 'SSH-2.0-server\r\n'],
])('an answer with %s is no answer, as at the service', async (_, bytes) => {
  const { url } = await answering(bytes)
  const answer = await createSocketSender({ url, waitMs: long, signal: undefined, now }).send(delivery)
  expect(answer).toMatchObject({ status: null, noAnswer: 'not-http', errorCode: 'ERR_ANSWER_MALFORMED' })
})

test('a delivery has the head of one of the service', async () => {
  const { url, read } = await answering(ok)
  const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': 't=1,v1=aa' }
  await createSocketSender({ url, waitMs: long, signal: undefined, now }).send({ ...delivery, headers })
  expect(read.join('').split('\r\n\r\n')[0]?.split('\r\n').toSorted()).toEqual([
    'Content-Type: application/json',
    'POST /hook?a=b HTTP/1.1',
    'User-Agent: payment-integration',
    'X-Service-Signature: t=1,v1=aa',
    'connection: keep-alive',
    'content-length: 64',
    `host: ${url.host}`,
  ])
})

const url = new URL('https://shop.example/webhook')

test('an abort ends the wait for a function, and aborts its request', async () => {
  const stop = new AbortController()
  let seen: AbortSignal | undefined
  const never: DoctorFetch = (_, { signal }) => {
    seen = signal
    return new Promise(() => undefined)
  }
  const sent = createFetchSender(never, { url, waitMs: long, signal: stop.signal, now }).send(delivery)
  stop.abort(new Error('enough'))
  await expect(sent).rejects.toThrow('enough')
  expect(seen?.aborted).toBe(true)
})

test('a function that never answers is a timeout, and its request is aborted', async () => {
  let seen: AbortSignal | undefined
  const never: DoctorFetch = (_, { signal }) => {
    seen = signal
    return new Promise(() => undefined)
  }
  const answer = await createFetchSender(never, { url, waitMs: 20, signal: undefined, now }).send(delivery)
  expect(answer.noAnswer).toBe('timeout')
  expect(seen?.aborted).toBe(true)
})

test('the body of an answer is released unread', async () => {
  let cancelled = 0
  const body = new ReadableStream({ cancel: () => void cancelled++ })
  const { send } = createFetchSender(async () => new Response(body), { url, waitMs: long, signal: undefined, now })
  expect((await send(delivery)).status).toBe(200)
  expect(cancelled).toBe(1)
})

test('a body without a stream, and one that is being read, are left alone', async () => {
  const read = new Response('text')
  read.body?.getReader()
  for (const answer of [{ status: 204, headers: new Headers(), body: 'text' }, read]) {
    const { send } = createFetchSender(async () => answer, { url, waitMs: long, signal: undefined, now })
    expect((await send(delivery)).noAnswer).toBe(null)
  }
})
