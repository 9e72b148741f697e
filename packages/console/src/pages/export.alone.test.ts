/** An export has one page of rows in memory. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createTwin } from '@payment-integration/testing/twin'
import { expect, it, onTestFinished } from 'vitest'
import { createConsole } from '../create-console.js'

/** `EXPORT_ROWS=1000000` repeats the measurement with a million. */
const payments = Number(process.env['EXPORT_ROWS'] ?? 100_000)
/** Bytes by which the memory may differ between two pages: much less than the text has. */
const spread = 8_000_000

/** What is reachable, in bytes. */
function liveBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

it(`the memory of a download of ${payments} payments is flat, as JSON lines and as CSV`, async () => {
  const twin = await createTwin({ seed: 64 })
  onTestFinished(() => twin.close())
  const { store } = twin.service
  await store.console.prepare()
  await twin.pay({ integrationAddress: null })
  const [row] = (await store.console.payments({ limit: 1 })).rows
  if (row === undefined) throw new Error('There is no payment.')
  const build = (n: number) => ({ facts: { ...row, txHash: `0x${n.toString(16).padStart(64, '0')}` }, primary: true })
  for (let from = 0; from < payments; from += 2_000) {
    const part = Array.from({ length: Math.min(2_000, payments - from) }, (_, n) => build(from + n))
    await store.transaction((tx) => tx.upsertPayments(part))
  }
  const app = createConsole({ service: twin.service, clock: twin.clock })
  for (const [format, heads, times] of [['jsonl', 0, 8] as const, ['csv', 1, 4] as const]) {
    const answer = await app.fetch(new Request(`http://127.0.0.1:4747/console/payments.${format}`))
    const measured: number[] = []
    let [lines, bytes, parts] = [0, 0, 0]
    for await (const part of answer.body ?? []) {
      lines += part.filter((byte: number) => byte === 10).length
      bytes += part.length
      if (parts++ % 20 === 0) measured.push(liveBytes())
    }
    expect(lines).toBe(payments + 1 + heads)
    expect(bytes).toBeGreaterThan(times * spread)
    expect(measured.length).toBeGreaterThan(9)
    expect(Math.max(...measured) - Math.min(...measured)).toBeLessThan(spread)
  }
})
