import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { createTestDelivery } from '@payment-integration/webhook/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { integrationAddress } from '../../../client/test/fixtures.js'
import { paymentHash, startService } from '../../../client/test/service.js'
import { createTestDatabase } from '../../../store-sql/test/postgres.js'
import { listenLocally } from '../../test/serve-http.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { getEvents, type TestIo, testIo } from '../../test/test-io.js'
import { runCli } from '../run-cli.js'
import { parseListenAddress, serveEndpoint, targetUrl } from './mirror.js'

const secret = 'whsec_cli'
type Service = Awaited<ReturnType<typeof startService>>

function ioFor(service: Service, env: Record<string, string> = {}): TestIo {
  return testIo({ env: { API_SECRET: service.apiSecret, WEBHOOK_SIGNING_SECRET: secret, ...env } })
}

const argumentsFor = ({ url }: Service, ...args: string[]) =>
  ['mirror', '--server', url, '--integration', integrationAddress].concat(args)

describe('mirror', () => {
  it('copies every payment once and prints the lag', async () => {
    await using service = await startService()
    await service.index(0, 1, 2)
    const path = join(temporaryFolder(), 'mirror.db')
    const io = ioFor(service)
    expect(await runCli(argumentsFor(service, '--to', `sqlite:${path}`, '--once'), io)).toBe(0)
    expect(io.lines).toEqual([
      `Created a new database: ${path}`,
      'Compared 3 of all payments: 3 added.',
      'Lag 0 s. 3 payments, 0 incomplete. Last delivery -.',
    ])
    const again = ioFor(service)
    expect(await runCli(argumentsFor(service, '--to', `sqlite:${path}`, '--once', '--json'), again)).toBe(0)
    expect(getEvents(again)).toMatchObject([
      { event: 'progress', pages: 1, compared: 3 },
      { event: 'reconciled', full: false, added: 0, updated: 0, incomplete: 0 },
      { event: 'status', rows: 3, incomplete: 0, lagMs: 0, copied: true, serviceError: null },
    ])
  })

  it('receives webhooks, signed with one of two secrets, into PostgreSQL, completes the rows, and ends at Ctrl-C with 0', async () => {
    await using service = await startService()
    await service.index(0)
    const { connectionString, remove } = await createTestDatabase()
    onTestFinished(remove)
    const io = ioFor(service, { MIRROR_URL: connectionString, WEBHOOK_SIGNING_SECRET: `previous, ${secret}` })
    const running = runCli(argumentsFor(service, '--listen', '127.0.0.1:0/webhook', '--json'), io)
    const listening = JSON.parse(await io.line((line) => line.includes('"listening"'))) as { url: string }
    await io.line((line) => line.includes('"status"'))
    await service.update(0, 'success')
    const snapshot = await service.client().payments.get(paymentHash(0))
    const delivery = await createTestDelivery({ secret, snapshot })
    expect((await fetch(listening.url, { method: 'POST', ...delivery })).status).toBe(204)
    const event = async (name: string) => JSON.parse(await io.line((line) => line.includes(`"event":"${name}"`)))
    expect(await event('delivery')).toMatchObject({ decision: 'apply', version: 2, state: 'success' })
    expect(await event('completed')).toMatchObject({ completed: 1, incomplete: 0 })
    const forged = await createTestDelivery({ secret: 'another', snapshot })
    expect((await fetch(listening.url, { method: 'POST', ...forged })).status).toBe(401)
    expect((await fetch(listening.url.replace('/webhook', '/'), { method: 'POST', ...delivery })).status).toBe(404)
    io.interrupt()
    expect(await running).toBe(0)
    expect(getEvents(io)).toContainEqual({ event: 'rejected', code: 'ERR_SIGNATURE_MISMATCH', status: 401 })
    expect(getEvents(io).at(-1)).toEqual({ event: 'stopped' })
    expect(io.errors).toEqual([])
  })

  it('prints a line for each delivery, and one at its end', async () => {
    await using service = await startService()
    await service.index(0)
    const io = ioFor(service)
    const to = `sqlite:${join(temporaryFolder(), 'mirror.db')}`
    const running = runCli(argumentsFor(service, '--to', to, '--listen', '127.0.0.1:0/'), io)
    const line = await io.line((each) => each.startsWith('Receiving'))
    await io.line((each) => each.startsWith('Lag'))
    const snapshot = { ...(await service.client().payments.get(paymentHash(0))), version: 2, state: 'paid' }
    const [url = ''] = /http:\S+\//.exec(line) ?? []
    expect((await fetch(url, { method: 'POST', ...(await createTestDelivery({ secret, snapshot })) })).status).toBe(204)
    const delivered = await io.line((each) => each.includes('v2'))
    expect(delivered).toMatch(/^0x[0-9a-f]{6}\.\.[0-9a-f]{4} {2}v2 {2}paid {2}stored$/)
    io.interrupt()
    expect(await running).toBe(0)
    expect(io.lines.at(-1)).toBe('Stopped.')
  })

  it('fails with 1 for a wrong secret, and names the options, not the secret', async () => {
    await using service = await startService()
    const to = `sqlite:${join(temporaryFolder(), 'mirror.db')}`
    for (const more of [['--once'], []]) {
      const io = ioFor(service, { API_SECRET: 'not-the-secret' })
      expect(await runCli(argumentsFor(service, '--to', to, ...more), io)).toBe(1)
      expect(io.errors.join('\n')).toMatch(/rejected the credentials \(401\)/)
      expect([...io.lines, ...io.errors].join('\n')).not.toContain('not-the-secret')
    }
  })

  it('fails with 1 for a database that cannot be reached', async () => {
    await using service = await startService()
    const io = ioFor(service)
    const to = 'postgres://nobody@127.0.0.1:1/none'
    expect(await runCli(argumentsFor(service, '--to', to, '--once'), io)).toBe(1)
    const unusable = /^The database of the mirror cannot be used: .*ECONNREFUSED.*\. Check --to or MIRROR_URL\.$/
    expect(io.errors).toEqual([expect.stringMatching(unusable)])
  })

  it('is misused when another program listens at the address', async () => {
    await using service = await startService()
    const server = createServer()
    const { port } = new URL(await listenLocally(server))
    onTestFinished(() => void server.close())
    const io = ioFor(service)
    const to = `sqlite:${join(temporaryFolder(), 'mirror.db')}`
    expect(await runCli(argumentsFor(service, '--to', to, '--listen', `127.0.0.1:${port}/`), io)).toBe(2)
    expect(io.errors).toEqual([
      `Cannot listen on 127.0.0.1 port ${port} (EADDRINUSE): another program listens there; stop it or choose another port (--listen).`,
    ])
  })

  it('stops although a client never ends its request', async () => {
    const failures = { onError: () => undefined, onRejection: () => undefined }
    const receive = () => new Promise<never>(() => undefined)
    const address = { host: '127.0.0.1', port: 0, path: '/' }
    const endpoint = await serveEndpoint(address, { receive, ...failures }, 50)
    const stalled = connect(Number(new URL(endpoint.url).port), '127.0.0.1')
    stalled.on('error', () => undefined)
    const ended = once(stalled, 'close')
    stalled.write('POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n{')
    // The server has read the head when it asks for the body.
    await once(stalled, 'data')
    await endpoint.close()
    await ended
  })

  it.each([
    [['--to', 'postgres://me:pass@db/shop'], /contains a password/],
    [['--to', 'mysql://db/shop'], /must be sqlite:<path> or postgres/],
    [[], /no database for the mirror/],
    [['--to', 'sqlite:x.db', '--api-secret-env', 'NOTHING'], /NOTHING is not set/],
    [['--to', 'sqlite:x.db', '--secret-env', 'NOTHING', '--listen', '127.0.0.1:0/'], /NOTHING is not set/],
    [['--to', 'sqlite:x.db', '--once', '--listen', '127.0.0.1:0/'], /receives no webhooks/],
    [['--to', 'sqlite:x.db', '--listen', '127.0.0.1'], /Expected an address, a port and a path/],
    [['--to', 'sqlite:x.db', '--server', 'http://payments.example'], /pass https:/],
  ])('is misused by %j, and creates nothing', async (args, message) => {
    const server = { url: 'https://payments.example', apiSecret: 'secret' } as Service
    const path = join(temporaryFolder(), 'x.db')
    const io = ioFor(server)
    const argv = args.map((each) => each.replace('sqlite:x.db', `sqlite:${path}`))
    expect(await runCli(argumentsFor(server, ...argv), io)).toBe(2)
    expect(existsSync(path)).toBe(false)
    expect(io.errors.join('\n')).toMatch(message)
    expect(io.errors.join('\n')).not.toMatch(/:pass@|=pass/)
  })

  it('takes the password of a database from the variable alone', () => {
    const url = 'postgres://me:pass@db/shop'
    expect(targetUrl(undefined, { MIRROR_URL: url })).toBe(url)
  })

  it.each(['a#b', 'a/b', 'a?b', '1#b', '1/b', '%'])('says to encode the password %j of a database', (password) => {
    const url = `postgres://me:${password}@db/shop`
    expect(() => targetUrl(undefined, { MIRROR_URL: url })).toThrow(/encode it, such as %23 for #/)
    expect(() => targetUrl(undefined, { MIRROR_URL: url })).not.toThrow(url)
  })

  it.each([
    ['127.0.0.1:4748/webhook', { host: '127.0.0.1', port: 4748, path: '/webhook' }],
    ['[::1]:0', { host: '::1', port: 0, path: '/' }],
    ['localhost:80/a/b', { host: 'localhost', port: 80, path: '/a/b' }],
  ])('listens at %s', (text, expected) => {
    expect(parseListenAddress(text)).toEqual(expected)
  })
})
