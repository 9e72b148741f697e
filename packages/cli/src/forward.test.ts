import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { listenLocally, serveHttp } from '../test/serve-http.js'
import { testIo } from '../test/test-io.js'
import { checkListening, forward } from './forward.js'

const delivery = {
  headers: { 'x-service-signature': 't=1,v1=aa', 'content-type': 'application/json', host: 'relay', 'x-other': '1' },
  body: new TextEncoder().encode('{"memo":"ü"}'),
}

const receiver = async (answer: RequestListener) => `${await serveHttp(answer)}/webhook`
const send = (url: string) => forward(delivery, { to: new URL(url), io: testIo(), timeoutMs: 600_000 })

it('sends the bytes and the headers of a notification as they are, and no others', async () => {
  const requests: unknown[] = []
  const url = await receiver(async (request, response) => {
    const { 'x-service-signature': signature, 'content-type': type, host, 'x-other': other } = request.headers
    const { 'user-agent': agent } = request.headers
    requests.push([await text(request), signature, type, agent, host === new URL(url).host, other])
    response.writeHead(204).end()
  })
  expect(await send(url)).toMatchObject({ status: 204, problem: null })
  expect(requests).toEqual([['{"memo":"ü"}', 't=1,v1=aa', 'application/json', 'payment-integration', true, undefined]])
})

it.each([
  [200, null],
  [308, /redirect to \/hook\/ is not followed/],
  [400, /signing secret/],
  [401, /raw bytes/],
  [403, /raw bytes/],
  [404, /no such path/],
  [405, /not accept POST/],
  [410, /gives up/],
  [413, /too low/],
  [418, /only 2xx is a success/],
  [500, /see the log of the receiver/],
])('names what to do about an answer of %i', async (status, problem) => {
  const url = await receiver((_, response) => response.writeHead(status, { Location: '/hook/' }).end())
  const answer = await send(url)
  expect(answer.status).toBe(status)
  if (problem === null) expect(answer.problem).toBeNull()
  else expect(answer.problem).toMatch(problem)
})

it('passes Retry-After on', async () => {
  const url = await receiver((_, response) => response.writeHead(503, { 'Retry-After': '7' }).end())
  expect(await send(url)).toMatchObject({ status: 503, retryAfter: '7' })
})

it('says that nothing listens, before and at a delivery', async () => {
  const server = createHttpServer((_, response) => response.end())
  const url = await listenLocally(server)
  expect(await checkListening(new URL(url))).toBeNull()
  server.close()
  server.closeAllConnections()
  expect(await checkListening(new URL(url))).toMatch(/Nothing listens at 127[.]0[.]0[.]1:\d+ yet/)
  expect(await send(url)).toMatchObject({ status: null, problem: expect.stringContaining('nothing listens at') })
})

it.each([
  ['no HTTP', 'SSH-2.0-server\r\n', 'malformed_answer'],
  ['no byte', '', 'closed the connection'],
])('says that a receiver answered %s', async (_, bytes, problem) => {
  const server = createServer((socket) => socket.once('data', () => socket.end(bytes)).on('error', () => undefined))
  onTestFinished(() => void server.close())
  const answer = await send(await listenLocally(server))
  expect(answer).toMatchObject({ status: null, problem: expect.stringContaining(problem) })
})

it('says that a receiver took longer than five seconds', async () => {
  const url = await receiver(() => undefined)
  const answer = await forward(delivery, { to: new URL(url), io: testIo(), timeoutMs: 50 })
  expect(answer).toMatchObject({ status: null, problem: expect.stringContaining('within 5 s') })
})
