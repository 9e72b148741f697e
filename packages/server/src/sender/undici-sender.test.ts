import type { Socket } from 'node:net'
import type { PostRequest } from '@payment-integration/core/ports'
import { describe, expect, it, onTestFinished } from 'vitest'
import { always, startDns } from '../../test/support/hostile-dns.js'
import { eventually, startTempTcp } from '../../test/support/tcp-server.js'
import { createLazySender } from './lazy-sender.js'
import { senderDefaults } from './sender-defaults.js'
import { type ClosableSender, createUndiciSender, type UndiciSenderOptions } from './undici-sender.js'

function sender(options: UndiciSenderOptions = dev): ClosableSender {
  const made = createUndiciSender({ connectTimeoutMs: patienceMs, ...options })
  onTestFinished(() => made.close())
  return made
}
function post(url: string, extra: Partial<PostRequest> = {}): PostRequest {
  return { url, headers: { 'X-Test': 'yes' }, body: Buffer.from('{"a":1}'), timeoutMs: patienceMs, ...extra }
}
const dev = { allowLoopbackHttp: true, connectTimeoutMs: 600_000 }
/** A budget longer than the test may take, so it does not end a POST. */
const patienceMs = 600_000
const is2xx = (status: unknown) => typeof status === 'number' && status >= 200 && status < 300
const answers =
  (head: string, body = '') =>
  (socket: Socket) => {
    socket.write(`HTTP/1.1 ${head}\r\n\r\n${body}`)
  }

it('an answer has status and latency, and the receiver got exactly the given bytes and headers', async () => {
  const server = await startTempTcp(answers('200 OK\r\nContent-Length: 2', 'ok'))
  const result = await sender().post(post(`${server.url}/hook?a=b`))
  const latencyMs = expect.any(Number)
  expect(result).toEqual({ kind: 'answer', status: 200, retryAfter: null, excerpt: 'ok', latencyMs })
  expect(server.received()).toMatch(/^POST \/hook\?a=b HTTP\/1\.1\r\n/)
  expect(server.received().toLowerCase()).toContain('x-test: yes')
  expect(server.received()).toMatch(/\r\n\r\n\{"a":1\}$/)
})

describe('the body of an answer', () => {
  const never: [string, (socket: Socket) => void][] = [
    ['is announced and never comes', answers('200 OK\r\nContent-Length: 100')],
    ['stops in the middle', answers('202 Accepted\r\nContent-Length: 100', 'half')],
    ['is chunked and never ends', answers('201 X\r\nTransfer-Encoding: chunked', '1\r\na\r\n')],
    ['has neither length nor end', answers('299 X', 'a')],
    [
      'drips',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
        const timer = setInterval(() => socket.write('1\r\na\r\n'), 20)
        socket.on('close', () => clearInterval(timer))
      },
    ],
  ]
  it.each(never)('of a 2xx that %s delays neither the POST nor the connection: it is a success', async (_, behave) => {
    const server = await startTempTcp(behave)
    const one = sender({ ...dev, connectionsPerOrigin: 1 })
    const results = await Promise.all(Array.from({ length: 4 }, () => one.post(post(server.url))))
    for (const result of results) expect(result).toMatchObject({ kind: 'answer', status: expect.toSatisfy(is2xx) })
    await eventually(() => server.open() === 0)
  })

  it('of a 2xx that arrives after its head is read to its end, and the connection stays alive', async () => {
    // The body arrives after the default limit. The limit of this sender is long enough for any slow machine.
    const server = await startTempTcp((socket, request) => {
      const delayMs = request === 1 ? 2 * senderDefaults.successBodyMs : 0
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n', () =>
        setTimeout(() => socket.write('late'), delayMs),
      )
    })
    const one = sender({ ...dev, successBodyMs: patienceMs })
    for (let n = 0; n < 20; n++)
      expect(await one.post(post(server.url))).toMatchObject({ status: 200, excerpt: 'late' })
    expect(server.connections()).toBeLessThan(10)
  })

  it('of a non-2xx is waited for: it explains the failure', async () => {
    const server = await startTempTcp((socket) => {
      socket.write('HTTP/1.1 500 Oops\r\nContent-Length: 6\r\n\r\n')
      setTimeout(() => socket.write('reason'), 2 * senderDefaults.successBodyMs)
    })
    expect(await sender().post(post(server.url))).toMatchObject({ status: 500, excerpt: 'reason' })
  })
})

it('a denied address is also a private one in dev: only this machine is allowed', async () => {
  const dns = await startDns(always('10.0.0.1'))
  onTestFinished(dns.stop)
  const one = sender({ ...dev, servers: dns.servers })
  for (const url of ['https://hook.example/', 'http://hook.example/', 'http://10.0.0.1/', 'http://93.184.216.34/'])
    expect(await one.post(post(url)), url).toMatchObject({ reason: 'rejected_address' })
})

describe('createUndiciSender', () => {
  it.each([
    { connectionsPerOrigin: 0 },
    { connectTimeoutMs: -1 },
    { keepAliveMs: Number.NaN },
    { connectionAgeMs: 1.5 },
  ])('rejects %j with a RangeError', (options) => expect(() => createUndiciSender(options)).toThrow(RangeError))

  it('ignores proxy variables of the environment', async () => {
    const proxy = await startTempTcp(answers('200 OK\r\nContent-Length: 0'))
    const server = await startTempTcp(answers('204 No Content'))
    const { env } = process
    onTestFinished(() => {
      process.env = env
    })
    process.env = { ...env, HTTP_PROXY: proxy.url, ALL_PROXY: proxy.url }
    expect(await sender().post(post(server.url))).toMatchObject({ status: 204 })
    expect(proxy.connections()).toBe(0)
  })
})

describe('createLazySender', () => {
  it.each([{ servers: ['dns.example'] }, { denied: ['203.0.113.0/64'] }])('rejects %j before any POST', (options) => {
    expect(() => createLazySender(options)).toThrow(TypeError)
  })

  it('sends POSTs from before and after it is loaded', async () => {
    const { url } = await startTempTcp(answers('204 No Content'))
    const sender = createLazySender(dev)
    const early = [sender.post(post(url)), sender.post(post(url))]
    for (const answer of await Promise.all(early)) expect(answer).toMatchObject({ kind: 'answer', status: 204 })
    expect(await sender.post(post(url))).toMatchObject({ kind: 'answer', status: 204 })
    await sender.close()
  })

  it('passes its options on: by default an endpoint on this machine is rejected', async () => {
    const sender = createLazySender({})
    const { url } = await startTempTcp(answers('204 No Content'))
    expect(await sender.post(post(url))).toMatchObject({ kind: 'failure', reason: 'rejected_address' })
    await sender.close()
  })

  it('posts nothing once it is closed, loaded or not', async () => {
    const { url, received } = await startTempTcp(answers('204 No Content'))
    const [unused, used] = [createLazySender(dev), createLazySender(dev)]
    await used.post(post(url))
    for (const sender of [unused, used]) {
      await sender.close()
      expect(await sender.post(post(url))).toMatchObject({ kind: 'failure', reason: 'connection' })
    }
    expect(received().match(/POST/g)).toHaveLength(1)
  })
})
