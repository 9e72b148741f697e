import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { listen } from '../../test/support.js'
import { createFetchSender, createSocketSender, type DoctorFetch } from './send.js'

const delivery = { headers: {}, body: new Uint8Array(64) }
const long = 300_000
const clock = { now: () => 1_700_000_000_000 }

/** A server that does this with its connections. */
async function serve(scheme: 'http' | 'https', onSocket: (socket: Socket) => void = () => undefined) {
  const server = createServer((socket) => onSocket(socket.on('error', () => undefined)))
  return { url: new URL(`${scheme}://127.0.0.1:${await listen(server)}/hook?a=b`), server }
}
/** A server that never sends a byte, so that no TLS handshake ends. */
const silent = () => serve('https')
const openSocket = (url: URL, waitMs = long, signal?: AbortSignal) => createSocketSender({ url, waitMs, signal, clock })

test('a broken upload to a receiver that never takes it ends after the wait', async () => {
  const { url } = await silent()
  const { sockets } = openSocket(url, 50)
  await expect(sockets?.breakUpload(delivery)).resolves.toBeUndefined()
})

test('a broken upload ends when the run is aborted', async () => {
  const { url, server } = await silent()
  const stop = new AbortController()
  const { sockets } = openSocket(url, long, stop.signal)
  const connected = once(server, 'connection')
  const broken = sockets?.breakUpload(delivery)
  await connected
  stop.abort(new Error('enough'))
  await expect(broken).rejects.toThrow('enough')
})

/** A receiver that answers each request with these bytes, and keeps what it read. */
async function answering(bytes: string) {
  const read: string[] = []
  const { url } = await serve('http', (socket) => {
    socket.on('data', (chunk) => {
      read.push(chunk.toString())
      socket.write(bytes)
    })
  })
  return { url, read }
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
  const answer = await openSocket(url).send(delivery)
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
  const answer = await openSocket(url).send(delivery)
  expect(answer).toMatchObject({ status: null, noAnswer: 'not-http', errorCode: 'ERR_ANSWER_MALFORMED' })
})

test('a delivery has the head of one of the service', async () => {
  const { url, read } = await answering(ok)
  const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': 't=1,v1=aa' }
  await openSocket(url).send({ ...delivery, headers })
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

const openFetch = (fetch: DoctorFetch, waitMs = long, signal?: AbortSignal) =>
  createFetchSender(fetch, { url, waitMs, signal, clock })

test('an abort ends the wait for a function, a function that never answers is a timeout; its request is aborted', async () => {
  const signals: AbortSignal[] = []
  const never: DoctorFetch = (_, { signal }) => {
    signals.push(signal)
    return new Promise(() => undefined)
  }
  const stop = new AbortController()
  const sent = openFetch(never, long, stop.signal).send(delivery)
  stop.abort(new Error('enough'))
  await expect(sent).rejects.toThrow('enough')
  expect((await openFetch(never, 20).send(delivery)).noAnswer).toBe('timeout')
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
})

test('a body without a stream, and one that is being read, are left alone', async () => {
  const read = new Response('text')
  read.body?.getReader()
  for (const answer of [{ status: 204, headers: new Headers(), body: 'text' }, read]) {
    const { send } = openFetch(async () => answer)
    expect((await send(delivery)).noAnswer).toBe(null)
  }
})
