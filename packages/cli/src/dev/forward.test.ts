import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createForwarder } from './forward.js'

const delivery = {
  headers: {
    'x-service-signature': 't=1,v1=aa',
    'content-type': 'application/json',
    host: 'relay',
    connection: 'close',
  },
  body: new TextEncoder().encode('{"memo":"ü"}'),
}

async function receiver(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(stop)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`, stop }
}

async function bytesOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

it('sends the bytes and headers of the delivery as they are', async () => {
  const seen: unknown[] = []
  const { url } = await receiver(async (request, response) => {
    const { 'x-service-signature': signature, 'content-type': type, host } = request.headers
    seen.push([await bytesOf(request), signature, type, host === new URL(url).host])
    response.writeHead(204).end()
  })
  expect(await createForwarder(url, Date.now).forward(delivery)).toMatchObject({ status: 204, advice: null })
  expect(seen).toEqual([['{"memo":"ü"}', 't=1,v1=aa', 'application/json', true]])
})

it.each([
  [200, null],
  [308, /redirects to "\/hook\/" \(308\): the service follows no redirect/],
  [400, /WEBHOOK_SIGNING_SECRET/],
  [401, /verify the raw body/],
  [403, /CSRF/],
  [404, /no route/],
  [405, /no POST/],
  [413, /too small/],
  [418, /only 2xx is a success/],
  [500, /its own log/],
])('names what to do about an answer of %i', async (status, advice) => {
  const { url } = await receiver((_, response) => response.writeHead(status, { Location: '/hook/' }).end())
  const answer = await createForwarder(url, Date.now).forward(delivery)
  expect(answer.status).toBe(status)
  if (advice === null) expect(answer.advice).toBeNull()
  else expect(answer.advice).toMatch(advice)
})

it('passes Retry-After on', async () => {
  const { url } = await receiver((_, response) => response.writeHead(503, { 'Retry-After': '7' }).end())
  expect(await createForwarder(url, Date.now).forward(delivery)).toMatchObject({ status: 503, retryAfter: '7' })
})

it('says that nothing listens, before and at a delivery', async () => {
  const { url, stop } = await receiver((_, response) => response.end())
  const forwarder = createForwarder(url, Date.now)
  expect(await forwarder.check()).toBeNull()
  stop()
  expect(await forwarder.check()).toMatch(/Nothing listens on 127[.]0[.]0[.]1:\d+ yet/)
  expect(await forwarder.forward(delivery)).toMatchObject({
    status: null,
    advice: expect.stringContaining('Nothing listens on'),
  })
})

it('says that a receiver closed the connection', async () => {
  const { url } = await receiver((request) => request.socket.destroy())
  expect(await createForwarder(url, Date.now).forward(delivery)).toMatchObject({
    status: null,
    advice: expect.stringContaining('closed the connection'),
  })
})

it('says that a receiver took longer than five seconds', async () => {
  const { url } = await receiver(() => undefined)
  expect(await createForwarder(url, Date.now).forward(delivery)).toMatchObject({
    status: null,
    advice: expect.stringContaining('within 5 s'),
  })
})
