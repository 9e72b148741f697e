import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { seeded } from '../../../store-sql/test/conformance/random.js'
import { hostileReceivers } from '../../test/support/hostile-receivers.js'
import { startTcp, type TcpServer } from '../../test/support/tcp-server.js'
import { createUndiciSender } from './undici-sender.js'

const [settled, total] = [1_000, 10_000]
const atOnce = 32
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes in use after a full collection. */
async function heldBytes(): Promise<number> {
  for (let n = 0; n < 4; n++) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

it(`memory is flat: ${total} deliveries to hostile receivers hold what ${settled} held, within 10 percent (SEED=${seed})`, async () => {
  const fraction = seeded(seed)
  // Floods also cost this process the writing, so they are rare.
  const calm = hostileReceivers.filter(({ name }) => !name.includes('without end'))
  const floods = hostileReceivers.filter(({ name }) => name.includes('without end'))
  const listening = new Map<string, TcpServer>()
  for (const { name, onRequest, onConnect } of hostileReceivers)
    listening.set(name, await startTcp(onRequest, { onConnect }))
  const sender = createUndiciSender({ allowLoopbackHttp: true })
  const body = Buffer.alloc(1_000, 'x')
  let done = 0
  const counts = new Map<string, number>()
  async function deliver(until: number): Promise<void> {
    while (done < until) {
      done++
      const among = fraction() < 0.02 ? floods : calm
      const name = among[Math.floor(fraction() * among.length)]?.name ?? ''
      const url = `http://127.0.0.1:${listening.get(name)?.port}/`
      const result = await sender.post({ url, headers: {}, body, timeoutMs: 60 })
      counts.set(result.kind, (counts.get(result.kind) ?? 0) + 1)
    }
  }
  const deliverAll = (until: number) => Promise.all(Array.from({ length: atOnce }, () => deliver(until)))

  await deliverAll(settled)
  const before = await heldBytes()
  await deliverAll(total)
  const after = await heldBytes()
  await sender.close()
  for (const each of listening.values()) await each.stop()
  expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(total)
  expect([...counts.keys()].sort()).toEqual(['answer', 'failure'])
  expect(after / before, `${before} bytes after ${settled}, ${after} after ${total}`).toBeLessThan(1.1)
})
