import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createSocketSender } from './send.js'
import { createFetchSender, type DoctorFetch } from './send-by-fetch.js'

const delivery = { headers: {}, body: new Uint8Array(64) }
const long = 300_000

/** A server that accepts connections and never sends a byte, so that no TLS handshake ends. */
async function silent() {
  const server = createServer((socket) => void socket.on('error', () => undefined))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return { url: new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`), server }
}

test('a broken upload to a receiver that never takes it ends after the wait', async () => {
  const { url } = await silent()
  const { sockets } = createSocketSender({ url, waitMs: 50, signal: undefined })
  await expect(sockets?.breakUpload(delivery)).resolves.toBeUndefined()
})

test('a broken upload ends when the run is aborted', async () => {
  const { url, server } = await silent()
  const stop = new AbortController()
  const { sockets } = createSocketSender({ url, waitMs: long, signal: stop.signal })
  const connected = once(server, 'connection')
  const broken = sockets?.breakUpload(delivery)
  await connected
  stop.abort(new Error('enough'))
  await expect(broken).rejects.toThrow('enough')
})

const url = new URL('https://shop.example/webhook')

test('an abort ends the wait for a function, and aborts its request', async () => {
  const stop = new AbortController()
  let seen: AbortSignal | undefined
  const never: DoctorFetch = (_, { signal }) => {
    seen = signal
    return new Promise(() => undefined)
  }
  const sent = createFetchSender(never, { url, waitMs: long, signal: stop.signal }).send(delivery)
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
  const answer = await createFetchSender(never, { url, waitMs: 20, signal: undefined }).send(delivery)
  expect(answer.noAnswer).toBe('timeout')
  expect(seen?.aborted).toBe(true)
})

test('the body of an answer is released unread', async () => {
  let cancelled = 0
  const body = new ReadableStream({ cancel: () => void cancelled++ })
  const { send } = createFetchSender(async () => new Response(body), { url, waitMs: long, signal: undefined })
  expect((await send(delivery)).status).toBe(200)
  expect(cancelled).toBe(1)
})

test('a body without a stream, and one that is being read, are left alone', async () => {
  const read = new Response('text')
  read.body?.getReader()
  for (const answer of [{ status: 204, headers: new Headers(), body: 'text' }, read]) {
    const { send } = createFetchSender(async () => answer, { url, waitMs: long, signal: undefined })
    expect((await send(delivery)).noAnswer).toBe(null)
  }
})
