import { afterEach, describe, expect, it } from 'vitest'
import { type Listening, listen } from '../../test/support/hostile-listen.js'
import { fitting, hostileTls, tlsHost } from '../../test/support/hostile-tls.js'
import { createUndiciSender } from './undici-sender.js'

const budgetMs = 300
const body = Buffer.from('{"private":"body of the notification"}')
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

function sender(trusted: readonly string[]) {
  const made = createUndiciSender({ allowLoopbackHttp: true, ca: [...trusted, fitting.cert].join('') })
  stops.unshift(() => made.close())
  return made
}
async function start(...args: Parameters<typeof listen>): Promise<Listening> {
  const listening = await listen(...args)
  stops.push(listening.stop)
  return listening
}
const post = ({ port }: Listening, timeoutMs: number) => ({
  url: `https://${tlsHost}:${port}/hook`,
  headers: {},
  body,
  timeoutMs,
})

describe('a receiver that', () => {
  it.each(hostileTls)('$name', async ({ tls, trusted, outcome, ...receiver }) => {
    const listening = await start(receiver, tls)
    const good = await start(
      { onRequest: (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood') },
      fitting,
    )
    const one = sender(trusted)
    // The first connection of a process loads the TLS code, which is not measured.
    expect(await one.post(post(good, 3_000))).toMatchObject({ status: 200, excerpt: 'good' })
    const startedAt = performance.now()
    expect(await one.post(post(listening, budgetMs))).toMatchObject({ kind: 'failure', ...outcome })
    expect(performance.now() - startedAt).toBeLessThan(60_000)
    expect(listening.connections()).toBeGreaterThan(0)
    // Only a receiver with a valid certificate got data.
    expect(listening.received().includes('notification')).toBe(
      receiver.name === 'finishes the handshake and never answers',
    )
    expect(await one.post(post(good, 3_000))).toMatchObject({ status: 200, excerpt: 'good' })
  })
})
