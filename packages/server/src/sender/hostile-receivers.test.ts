import type { PostResult } from '@payment-integration/core/ports'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type HostileReceiver, hostileReceivers, isSlow, type Outcome } from '../../test/support/hostile-receivers.js'
import { eventually, startTcp, startTempTcp, type TcpServer } from '../../test/support/tcp-server.js'
import { type ClosableSender, createUndiciSender } from './undici-sender.js'

const budgetMs = 300
/** A budget that no answer of these receivers exceeds. */
const patienceMs = 600_000
let sender: ClosableSender
let good: TcpServer
beforeAll(async () => {
  sender = createUndiciSender({ allowLoopbackHttp: true, connectTimeoutMs: patienceMs })
  good = await startTcp((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood'))
})
afterAll(async () => {
  await sender.close()
  await good.stop()
})

const start = ({ onRequest, onConnect }: Pick<HostileReceiver, 'onConnect' | 'onRequest'>) =>
  startTempTcp(onRequest, { onConnect })

function post({ port }: TcpServer, timeoutMs = patienceMs, one = sender): Promise<PostResult> {
  const body = Buffer.from(JSON.stringify({ padding: 'x'.repeat(1_000) }))
  return one.post({ url: `http://127.0.0.1:${port}/hook`, headers: { 'X-Test': 'yes' }, body, timeoutMs })
}
/** Posts with twice the budget until a slow receiver's answer begins within it, or it ends without one as expected. */
async function postSlow(to: TcpServer, outcome: Outcome, budget = budgetMs): Promise<PostResult> {
  const result = await post(to, budget)
  return 'reason' in outcome || result.kind === 'answer' ? result : postSlow(to, outcome, 2 * budget)
}
function expectOutcome(result: PostResult, outcome: Outcome): void {
  if ('reason' in outcome) {
    expect(result).toMatchObject({ kind: 'failure', ...outcome })
    return
  }
  expect(result).toMatchObject({ kind: 'answer', status: outcome.status })
  const excerpt = result.kind === 'answer' ? result.excerpt : undefined
  if (outcome.excerpt instanceof RegExp) expect(excerpt).toMatch(outcome.excerpt)
  else expect(excerpt).toBe(outcome.excerpt)
}

describe('a receiver that', () => {
  it.each(hostileReceivers)('$name', async (receiver) => {
    const { outcome } = receiver
    const listening = await start(receiver)
    const send = () => (isSlow(receiver) ? postSlow(listening, outcome) : post(listening))
    expectOutcome(await send(), outcome)
    // Another receiver is not affected.
    expectOutcome(await post(good), { status: 200, excerpt: 'good' })
    // Its own next notification has the same result.
    expectOutcome(await send(), outcome)
  })

  const floods = hostileReceivers.filter(({ name }) => name.endsWith('without end'))
  it.each(floods)('$name is disconnected before the budget is spent', async (receiver) => {
    const listening = await start(receiver)
    const budget = 120_000
    expectOutcome(await post(listening, budget), receiver.outcome)
    await eventually(() => listening.open() === 0, budget / 2)
  })
})

describe('a kept-alive connection', () => {
  const first = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst'
  const poison = 'HTTP/1.1 410 Gone\r\nContent-Length: 6\r\n\r\npoison'
  const poisonLater: HostileReceiver['onRequest'] = (socket, nth) => {
    socket.write(first)
    if (nth === 1) setTimeout(() => socket.write(poison), 30)
  }
  const poisons: [string, HostileReceiver['onRequest']][] = [
    ['in the same packet', (socket, nth) => socket.write(nth === 1 ? first + poison : first)],
    ['while no request is in flight', poisonLater],
  ]
  it.each(poisons)(
    'is closed when a second answer arrives %s: the next notification gets its own answer',
    async (_, onRequest) => {
      const listening = await start({ onRequest })
      const one = createUndiciSender({ allowLoopbackHttp: true, connectionsPerOrigin: 1, connectTimeoutMs: patienceMs })
      onTestFinished(() => one.close())
      expectOutcome(await post(listening, patienceMs, one), { status: 200, excerpt: 'first' })
      await eventually(() => listening.open() === 0)
      for (let n = 0; n < 5; n++) {
        expectOutcome(await post(listening, patienceMs, one), { status: 200, excerpt: 'first' })
        await eventually(() => listening.open() === 0)
      }
      expect(listening.connections()).toBe(6)
    },
  )

  it('that the receiver closed in between is replaced', async () => {
    const listening = await start({ onRequest: (socket) => socket.end(first) })
    for (let n = 0; n < 3; n++) expectOutcome(await post(listening, patienceMs), { status: 200, excerpt: 'first' })
    expect(listening.connections()).toBe(3)
  })

  it('carries no cookie that an earlier answer set, and asks for no encoding', async () => {
    const listening = await start({
      onRequest: (socket) => socket.write('HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n'),
    })
    for (let n = 0; n < 2; n++) await post(listening)
    expect(listening.received().toLowerCase()).not.toMatch(/cookie:|accept-encoding:/)
    expect(listening.received()).toContain('POST /hook')
  })
})
