import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { fitting, hostileTls, tlsHost } from '../../test/support/hostile-tls.js'
import { startTempTcp, type TcpServer } from '../../test/support/tcp-server.js'
import { createUndiciSender } from './undici-sender.js'

const budgetMs = 300
const { env } = process
// Verification holds although the environment disables it.
beforeAll(() => {
  process.env = { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  vi.spyOn(process, 'emitWarning').mockReturnValue()
})
afterAll(() => {
  process.env = env
  vi.restoreAllMocks()
})
const body = Buffer.from('{"private":"body of the notification"}')

function sender(trusted: readonly string[]) {
  const made = createUndiciSender({ allowLoopbackHttp: true, ca: [...trusted, fitting.cert].join('') })
  onTestFinished(() => made.close())
  return made
}
const post = ({ port }: TcpServer, timeoutMs: number) => ({
  url: `https://${tlsHost}:${port}/hook`,
  headers: {},
  body,
  timeoutMs,
})

describe('a receiver that', () => {
  it.each(hostileTls)('$name', async ({ name, tls, trusted, outcome, onConnect }) => {
    const listening = await startTempTcp(undefined, { onConnect, tls })
    const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood'
    const named = new Set<string | false | null>()
    const onRequest = (socket: Socket) => {
      named.add((socket as TLSSocket).servername)
      socket.write(ok)
    }
    const good = await startTempTcp(onRequest, { tls: fitting })
    const one = sender(trusted)
    // The first connection of a process loads the TLS code, which is not measured.
    expect(await one.post(post(good, 3_000))).toMatchObject({ status: 200, excerpt: 'good' })
    const startedAt = performance.now()
    expect(await one.post(post(listening, budgetMs))).toMatchObject({ kind: 'failure', ...outcome })
    expect(performance.now() - startedAt).toBeLessThan(60_000)
    expect(listening.connections()).toBeGreaterThan(0)
    // Only a receiver with a valid certificate got data.
    expect(listening.received().includes('notification')).toBe(name === 'finishes the handshake and never answers')
    expect(await one.post(post(good, 3_000))).toMatchObject({ status: 200, excerpt: 'good' })
    expect(good.received()).toContain(`\r\nhost: ${tlsHost}:${good.port}\r\n`)
    expect([...named]).toEqual([tlsHost])
  })
})
