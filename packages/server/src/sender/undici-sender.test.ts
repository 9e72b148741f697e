import type { Socket } from 'node:net'
import type { PostRequest } from '@payment-integration/core/ports'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { always, startDns } from '../../test/support/hostile-dns.js'
import { eventually, startTcp, type TcpServer } from '../../test/support/tcp-server.js'
import { senderDefaults } from './sender-defaults.js'
import { type ClosableSender, createUndiciSender, type UndiciSenderOptions } from './undici-sender.js'

const servers: { stop(): Promise<void> }[] = []
const senders: ClosableSender[] = []
const patienceMs = 600_000
afterEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.close()))
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

async function receiver(onRequest?: (socket: Socket, request: number) => void): Promise<TcpServer> {
  const server = await startTcp(onRequest)
  servers.push(server)
  return server
}
function sender(options: UndiciSenderOptions = { allowLoopbackHttp: true }): ClosableSender {
  const made = createUndiciSender({ connectTimeoutMs: patienceMs, ...options })
  senders.push(made)
  return made
}
function post(url: string, extra: Partial<PostRequest> = {}): PostRequest {
  return { url, headers: { 'X-Test': 'yes' }, body: Buffer.from('{"a":1}'), timeoutMs: patienceMs, ...extra }
}
const is2xx = (status: unknown) => typeof status === 'number' && status >= 200 && status < 300
const answers =
  (head: string, body = '') =>
  (socket: Socket) => {
    socket.write(`HTTP/1.1 ${head}\r\n\r\n${body}`)
  }

describe('an answer', () => {
  it('has status and latency, and the receiver got exactly the given bytes and headers', async () => {
    const server = await receiver(answers('200 OK\r\nContent-Length: 2', 'ok'))
    const result = await sender().post(post(`${server.url}/hook?a=b`))
    const latencyMs = expect.any(Number)
    expect(result).toEqual({ kind: 'answer', status: 200, retryAfter: null, excerpt: 'ok', latencyMs })
    expect(server.received()).toMatch(/^POST \/hook\?a=b HTTP\/1\.1\r\n/)
    expect(server.received().toLowerCase()).toContain('x-test: yes')
    expect(server.received()).toMatch(/\r\n\r\n\{"a":1\}$/)
  })
})

describe('the body of an answer', () => {
  it('holds nothing of the request unless the receiver sends it back', async () => {
    const server = await receiver(answers('200 OK\r\nContent-Length: 2', 'ok'))
    const headers = { 'X-Service-Signature': 't=1,v1=canary' }
    expect(JSON.stringify(await sender().post(post(server.url, { headers })))).not.toMatch(/canary|X-Test|"a"/)
  })

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
    const server = await receiver(behave)
    const one = sender({ allowLoopbackHttp: true, connectionsPerOrigin: 1 })
    const results = await Promise.all(Array.from({ length: 4 }, () => one.post(post(server.url))))
    for (const result of results) expect(result).toMatchObject({ kind: 'answer', status: expect.toSatisfy(is2xx) })
    await eventually(() => server.open() === 0)
  })

  it('of a 2xx that arrives after its head is read to its end, and the connection stays alive', async () => {
    // The body arrives after the default limit. The limit of this sender is long enough for any slow machine.
    const server = await receiver((socket, request) => {
      const delayMs = request === 1 ? 2 * senderDefaults.successBodyMs : 0
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n', () =>
        setTimeout(() => socket.write('late'), delayMs),
      )
    })
    const one = sender({ allowLoopbackHttp: true, successBodyMs: patienceMs })
    for (let n = 0; n < 20; n++)
      expect(await one.post(post(server.url))).toMatchObject({ status: 200, excerpt: 'late' })
    expect(server.connections()).toBeLessThan(10)
  })

  it('of a non-2xx is waited for: it explains the failure', async () => {
    const server = await receiver((socket) => {
      socket.write('HTTP/1.1 500 Oops\r\nContent-Length: 6\r\n\r\n')
      setTimeout(() => socket.write('reason'), 2 * senderDefaults.successBodyMs)
    })
    expect(await sender().post(post(server.url))).toMatchObject({ status: 500, excerpt: 'reason' })
  })
})

describe('a denied address', () => {
  it('is also a private one in dev: only this machine is allowed', async () => {
    const dns = await startDns(always('10.0.0.1'))
    servers.push(dns)
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
    const proxy = await receiver(answers('200 OK\r\nContent-Length: 0'))
    const server = await receiver(answers('204 No Content'))
    const { env } = process
    onTestFinished(() => {
      process.env = env
    })
    process.env = { ...env, HTTP_PROXY: proxy.url, ALL_PROXY: proxy.url }
    expect(await sender().post(post(server.url))).toMatchObject({ status: 204 })
    expect(proxy.connections()).toBe(0)
  })
})
