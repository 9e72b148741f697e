/** Cases of the table that send pieces, break off, or use a connection twice. @module */
import { once } from 'node:events'
import { Agent, request as openRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect } from 'vitest'
import type { IncomingDelivery } from '../../src/adapters/handler-options.js'
import { createVerifier } from '../../src/exports/index.js'
import type { TestDelivery } from '../../src/exports/testing.js'
import { type Bench, type Cases, delivery, patience, secret } from './fixture.js'
import { answered, getRoute, type Sent, sendOver } from './host.js'

async function startOnPort(start: Bench['start'], ...settings: Parameters<Bench['start']>): Promise<number> {
  const { port } = await start(...settings)
  if (port === undefined) throw new TypeError('This host has no socket.')
  return port
}

/** A request whose head went out. Without a Content-Length it is chunked. */
function open(port: number, headers: Sent['headers'] = {}) {
  const request = openRequest({ ...getRoute(port), agent: false })
  for (const [name, value] of Object.entries(headers)) request.setHeader(name, value)
  request.on('error', () => undefined)
  request.flushHeaders()
  return request
}

/** A connection whose sender obeys nobody: Node's client closes by rules of its own. */
async function connectRaw(port: number, headers: TestDelivery['headers'] = {}) {
  const socket = connect(port, '127.0.0.1')
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  let got = ''
  socket.on('data', (data) => {
    got += data.toString()
  })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const lines = Object.entries({ Host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST /webhook HTTP/1.1\r\n${lines.join('')}\r\n`)
  return { socket, closed, status: () => Number(/^HTTP\/1\.1 (\d{3})/.exec(got)?.[1]) }
}

const chunk = Buffer.from(`10000\r\n${' '.repeat(65_536)}\r\n`)

export const socketCases: Cases = {
  async 'a delivery in single bytes is received'({ start, snapshots }) {
    const port = await startOnPort(start)
    const { headers, body } = await delivery()
    const request = open(port, headers)
    for (const byte of body) request.write(Uint8Array.of(byte))
    request.end()
    expect([(await answered(request)).status, snapshots.length]).toEqual([204, 1])
  },
  async 'rejected headers are answered before the body came'({ start, rejections }) {
    const port = await startOnPort(start)
    const { headers } = await delivery({ ageSeconds: 400 })
    const request = open(port, { ...headers, 'Content-Length': '1000' })
    request.write('{')
    expect((await answered(request)).status).toBe(400)
    expect(rejections.map(({ code }) => code)).toEqual(['ERR_DELIVERY_STALE'])
    request.destroy()
  },
  async 'a declared length over the limit is 413 before the body came'({ start, rejections }) {
    const receive = (incoming: IncomingDelivery) => incoming.arrayBuffer()
    const port = await startOnPort(start, { receive, maxBytes: 1000 })
    const request = open(port, { 'Content-Type': 'application/json', 'Content-Length': '1001' })
    expect((await answered(request)).status).toBe(413)
    expect(rejections.map(({ code }) => code)).toEqual(['ERR_BODY_TOO_LARGE'])
    request.destroy()
  },
  async 'a chunked body over the limit is 413, though receive swallows the failure'({ start, rejections }) {
    const receive = (incoming: IncomingDelivery) => incoming.arrayBuffer().catch(() => 'fine')
    const port = await startOnPort(start, { receive, maxBytes: 1000 })
    const request = open(port)
    request.end(new Uint8Array(1001))
    expect((await answered(request)).status).toBe(413)
    expect(rejections.map(({ code }) => code)).toEqual(['ERR_BODY_TOO_LARGE'])
  },
  async 'a sender that never stops is answered with 413 and cut off'({ start, errors, rejections }) {
    const port = await startOnPort(start)
    const { headers } = await delivery()
    const { socket, closed, status } = await connectRaw(port, { ...headers, 'Transfer-Encoding': 'chunked' })
    let sentBytes = 0
    const more = () => {
      do sentBytes += chunk.byteLength
      while (!socket.destroyed && socket.write(chunk))
    }
    socket.on('drain', more)
    more()
    await closed
    expect(status()).toBe(413)
    expect(sentBytes).toBeLessThan(64_000_000)
    expect([errors, rejections.map(({ code }) => code)]).toEqual([[], ['ERR_BODY_TOO_LARGE']])
  },
  async 'an upload that breaks off is a rejection and no error, and the next delivery is received'(bench) {
    const { start, snapshots, errors, rejections } = bench
    const { headers, body } = await delivery()
    let breakOff: (() => void) | undefined
    const { verify } = createVerifier({ secrets: secret })
    const port = await startOnPort(start, {
      receive: async (incoming) => {
        const reading = incoming.arrayBuffer()
        breakOff?.()
        await reading
        snapshots.push((await verify(incoming)).snapshot)
      },
    })
    const request = open(port, { ...headers, 'Content-Length': `${body.byteLength}` })
    request.write(body.slice(0, 10))
    breakOff = () => request.destroy()
    await expect.poll(() => rejections.map(({ code }) => code), patience).toEqual(['ERR_BODY_UNREADABLE'])
    breakOff = undefined
    expect((await sendOver(new Agent(), port, { headers, body })).status).toBe(204)
    expect([snapshots.length, errors]).toEqual([1, []])
  },
  async 'a body that does not come is 408 at the deadline'({ start, errors, rejections }) {
    const port = await startOnPort(start, { deadlineMs: 60 })
    const { headers } = await delivery()
    const request = open(port, { ...headers, 'Content-Length': '1000' })
    request.write('{')
    expect((await answered(request)).status).toBe(408)
    expect([errors, rejections.map(({ code }) => code)]).toEqual([[], ['ERR_BODY_TIMEOUT']])
    request.destroy()
  },
  async 'a connection whose body does not come is closed soon after the answer'({ start }) {
    const port = await startOnPort(start, { deadlineMs: 60 })
    const { headers, body } = await delivery()
    const { socket, closed, status } = await connectRaw(port, { ...headers, 'Content-Length': '1000' })
    socket.write('{')
    // Servers close an idle connection by themselves, after 5 seconds or more: later than this one.
    const idle = await connectRaw(port, { ...headers, 'Content-Length': `${body.byteLength}` })
    idle.socket.write(body)
    expect(await Promise.race([closed, idle.closed.then(() => 'idle')])).toBeUndefined()
    expect([status(), idle.status()]).toEqual([408, 204])
    idle.socket.destroy()
  },
  async 'a connection serves the next delivery after a rejection'({ start, snapshots }) {
    const port = await startOnPort(start)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const sockets = new Set<Socket>()
    agent.on('free', (socket: Socket) => sockets.add(socket))
    const sent = [
      await delivery({ fault: 'forged' }),
      await delivery({ ageSeconds: 400 }),
      { ...(await delivery()), body: new Uint8Array(300_000) },
      await delivery(),
    ]
    const statuses = []
    for (const one of sent) statuses.push((await sendOver(agent, port, one)).status)
    agent.destroy()
    expect(statuses).toEqual([401, 400, 413, 204])
    expect([snapshots.length, sockets.size]).toEqual([1, 1])
  },
}
