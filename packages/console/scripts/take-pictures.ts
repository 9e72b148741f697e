/**
 * Takes the pictures of the pages for the documents, of a simulated service that is the same at each run.
 * Usage: node --conditions=@payment-integration/source --import tsx packages/console/scripts/take-pictures.ts [folder].
 * The folder is docs/images by default.
 * @module
 */
import { join, resolve } from 'node:path'
import type { ConsoleReads, DeliveryView } from '@payment-integration/core/internal'
import { createTwin, type Twin, type TwinPayment } from '@payment-integration/testing/twin'
import { createConsole } from '../src/create-console.js'
import { launchChromium, servePages } from '../test/chromium.js'

const folder = process.argv[2] ?? join(import.meta.dirname, '../../../docs/images')
/** 2026-01-31T12:00:00Z. */
const startMs = 1_769_860_800_000

const twin = await createTwin({ seed: 11, startMs })
withLatencies(twin.service.queries)
const served = await servePages(() => createConsole({ service: twin.service, clock: twin.clock }))
const browser = await launchChromium()
const paid = await payShop(twin)
await take('overview', '')
await take('narrow', '', { width: 390, height: 680, scale: 2 })
await failBroken(twin)
// Low enough for a file of less than 150 kB.
await take('payment', `/payments/${paid.chainId}/${paid.txHash}`, { height: 720 })
await take('deliveries', '/deliveries', { height: 540 })
await take('chains', '/chains')
await browser.close()
served.close()
await twin.close()

/** An hour of payments of a shop, whose receiver answers one delivery in thirty with an error at first. */
async function payShop(own: Twin): Promise<TwinPayment> {
  let answers = 0
  const { address } = await own.addIntegration(() => new Response(null, { status: ++answers % 30 === 0 ? 503 : 204 }))
  const payments: TwinPayment[] = []
  for (let n = 0; n < 40; n += 1) {
    const currency = n % 4 === 2 ? 'CHF' : 'EUR'
    const cents = 450 + 100 * n
    const amount = (cents / 100).toFixed(2)
    const settlementAmount = (Math.round(cents * 1.08) / 100).toFixed(2)
    const input = { amount: settlementAmount, token: 'USDC', memo: `order-${n}` }
    const one = await own.pay({ chainId: [1, 10, 137][n % 3] ?? 1, integrationAddress: address, ...input })
    payments.push(one)
    const invoice = { amount, currency, settlementAmount, settlementCurrency: 'USD' }
    await own.update(one, { state: 'pending', invoice, recipient: { title: 'Example Coffee', subtitle: null } })
    if (n % 6 !== 4) await own.update(one, { state: n % 11 === 7 ? 'failure' : 'success' })
    await own.advance(80_000)
  }
  await own.reorganize(10, 2)
  await own.mine(10, 3)
  const chosen = payments.at(-4) as TwinPayment
  // Rejected: the state is final.
  await own.update(chosen, { state: 'pending' })
  await own.advance(10_000)
  return chosen
}

/** Payments of a second shop, whose receiver redirects. */
async function failBroken(own: Twin): Promise<void> {
  const { address } = await own.addIntegration(() => new Response('Moved to /hook/', { status: 308 }))
  for (let n = 0; n < 5; n += 1) {
    await own.pay({ chainId: 10, integrationAddress: address, memo: `ticket-${n}` })
    await own.advance(4_000)
  }
}

/** Takes the picture of a page in both themes. */
async function take(name: string, path: string, { width = 1280, height = 860, scale = 1 } = {}): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme, deviceScaleFactor: scale })
    await page.goto(`${served.origin}/console${path}`, { waitUntil: 'load' })
    if (path === '') await page.locator('#chart-latency canvas').waitFor()
    // The badge of a live page says that it is connected.
    if (await page.evaluate('document.body.dataset.live !== undefined'))
      await page.locator('#live', { hasText: /^live$/ }).waitFor()
    const suffix = colorScheme === 'dark' ? '-dark' : ''
    await page.screenshot({ path: resolve(folder, `console-${name}${suffix}.png`) })
    await page.close()
  }
}

/** Simulated receivers answer at once, so latencies from 20 to 400 ms are computed from the times of the attempts. */
function withLatencies(reads: Omit<ConsoleReads, 'prepare'>): void {
  const computeLatency = (startedAt: number) => 20 * 20 ** (((startedAt / 1_000) * 0.618) % 1)
  const timed = <Attempt extends { startedAt: number }>(attempt: Attempt) => ({
    ...attempt,
    latencyMs: computeLatency(attempt.startedAt),
  })
  const view = (delivery: DeliveryView): DeliveryView => ({ ...delivery, attempts: delivery.attempts.map(timed) })
  const { attempts, deliveries, deliveriesByPayment } = reads
  Object.assign(reads, {
    attempts: async (query) => (await attempts(query)).map(timed),
    deliveriesByPayment: async (id) => (await deliveriesByPayment(id)).map(view),
    async deliveries(query) {
      const page = await deliveries(query)
      return { ...page, rows: page.rows.map(view) }
    },
  } satisfies Partial<ConsoleReads>)
}
