import type { Socket } from 'node:net'
import type { PostRequest } from '@payment-integration/core/ports'
import { describe, expect, it, onTestFinished } from 'vitest'
import { always, startDns } from '../../test/support/hostile-dns.js'
import { eventually, startTempTcp } from '../../test/support/tcp-server.js'
import { senderDefaults } from './sender-defaults.js'
import { type ClosableSender, createUndiciSender, type UndiciSenderOptions } from './undici-sender.js'

function sender(options: UndiciSenderOptions = { allowLoopbackHttp: true }): ClosableSender {
  const made = createUndiciSender(options)
  onTestFinished(() => made.close())
  return made
}
function post(url: string, extra: Partial<PostRequest> = {}): PostRequest {
  return { url, headers: { 'X-Test': 'yes' }, body: Buffer.from('{"a":1}'), timeoutMs: 1_000, ...extra }
}
const is2xx = (status: unknown) => typeof status === 'number' && status >= 200 && status < 300
const answers =
  (head: string, body = '') =>
  (socket: Socket) => {
    socket.write(`HTTP/1.1 ${head}\r\n\r\n${body}`)
  }

describe('an answer', () => {
  it('has status and latency, and the receiver got exactly the given bytes and headers', async () => {
    const server = await startTempTcp(answers('200 OK\r\nContent-Length: 2', 'ok'))
    const result = await sender().post(post(`${server.url}/hook?a=b`))
    const latencyMs = expect.any(Number)
    expect(result).toEqual({ kind: 'answer', status: 200, retryAfter: null, excerpt: 'ok', latencyMs })
    expect(server.received()).toMatch(/^POST \/hook\?a=b HTTP\/1\.1\r\n/)
    expect(server.received().toLowerCase()).toContain('x-test: yes')
    expect(server.received()).toMatch(/\r\n\r\n\{"a":1\}$/)
  })
})

describe('the body of an answer', () => {
  // The budget is longer than the test may take, so it does not end these POSTs.
  const patient = { timeoutMs: 600_000 }
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
    const one = sender({ allowLoopbackHttp: true, connectionsPerOrigin: 1 })
    const results = await Promise.all(Array.from({ length: 4 }, () => one.post(post(server.url, patient))))
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
    const one = sender({ allowLoopbackHttp: true, successBodyMs: patient.timeoutMs })
    for (let n = 0; n < 20; n++)
      expect(await one.post(post(server.url, patient))).toMatchObject({ status: 200, excerpt: 'late' })
    expect(server.connections()).toBeLessThan(10)
  })

  it('of a non-2xx is waited for: it explains the failure', async () => {
    const server = await startTempTcp((socket) => {
      socket.write('HTTP/1.1 500 Oops\r\nContent-Length: 6\r\n\r\n')
      setTimeout(() => socket.write('reason'), 2 * senderDefaults.successBodyMs)
    })
    expect(await sender().post(post(server.url, patient))).toMatchObject({ status: 500, excerpt: 'reason' })
  })
})

describe('a denied address', () => {
  it('is also a private one in dev: only this machine is allowed', async () => {
    const dns = await startDns(always('10.0.0.1'))
    onTestFinished(dns.stop)
    const dev = sender({ allowLoopbackHttp: true, servers: dns.servers })
    for (const url of ['https://hook.example/', 'http://hook.example/', 'http://10.0.0.1/', 'http://93.184.216.34/'])
      expect(await dev.post(post(url)), url).toMatchObject({ reason: 'refused_address' })
  })
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
