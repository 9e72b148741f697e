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
  const ca = [...trusted, fitting.cert].join('')
  const made = createUndiciSender({ allowLoopbackHttp: true, ca, connectTimeoutMs: 600_000 })
  onTestFinished(() => made.close())
  return made
}
const getUrl = (port: number) => `https://${tlsHost}:${port}/hook`
const post = ({ port }: TcpServer, timeoutMs = 600_000) => ({ url: getUrl(port), headers: {}, body, timeoutMs })

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
    expect(await one.post(post(good))).toMatchObject({ status: 200, excerpt: 'good' })
    const isNotified = name === 'finishes the handshake and never answers'
    const hasArrived = () => (isNotified ? listening.received().includes('notification') : listening.connections() > 0)
    // The budget doubles until a slow machine does within it what comes before the time-out.
    for (let budget = name.includes('never answers') ? budgetMs : 600_000; !hasArrived(); budget *= 2)
      expect(await one.post(post(listening, budget))).toMatchObject({ kind: 'failure', ...outcome })
    expect(listening.connections()).toBeGreaterThan(0)
    // Only a receiver with a valid certificate got data.
    expect(listening.received().includes('notification')).toBe(isNotified)
    expect(await one.post(post(good))).toMatchObject({ status: 200, excerpt: 'good' })
    expect(good.received()).toContain(`\r\nhost: ${tlsHost}:${good.port}\r\n`)
    expect([...named]).toEqual([tlsHost])
  })
})
