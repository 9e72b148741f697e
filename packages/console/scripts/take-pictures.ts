/**
 * Takes the pictures of the pages for the documents, on a twin that is the same at each run.
 * Usage: node --conditions=@payment-integration/source --import tsx packages/console/scripts/take-pictures.ts [folder]
 * [width] [light|dark] [all]. The defaults are docs/images, 1280 and light; `all` takes every page, in full length.
 *
 * @module
 */
import { join, resolve } from 'node:path'
import type { ConsoleReads, DeliveryView } from '@payment-integration/core/internal'
import { createTwin, type Twin, type TwinPayment } from '@payment-integration/testing/twin'
import type { Page } from 'playwright-core'
import { createConsole } from '../src/create-console.js'
import { launchChromium, servePages } from '../test/chromium.js'

const [folder = join(import.meta.dirname, '../../../docs/images'), width = '1280', scheme = 'light', all] =
  process.argv.slice(2)
/** Low enough for a file of less than 150 kB. */
const heights: Readonly<Record<string, number>> = { deliveries: 540, payment: 720 }
const usualHeight = 860
/** 2026-01-31T12:00:00Z. */
const startMs = 1_769_860_800_000

const twin = await createTwin({ seed: 11, startMs })
const paid = await fill(twin)
withLatencies(twin.service.store.console)
const served = await servePages(() => createConsole({ service: twin.service, now: twin.now }))
const browser = await launchChromium()
const page = await browser.newPage({
  viewport: { width: Number(width), height: usualHeight },
  colorScheme: scheme === 'dark' ? 'dark' : 'light',
  reducedMotion: 'reduce',
})
const payment = `/payments/${paid.chainId}/${paid.txHash}`
const pages = { overview: '', payment, deliveries: '/deliveries', chains: '/chains' }
const others = { payments: '/payments', endpoints: '/endpoints', integrations: '/integrations', audit: '/audit' }
for (const [name, path] of Object.entries(all === undefined ? pages : { ...pages, ...others })) await take(name, path)
await browser.close()
served.close()
await twin.close()

/** An hour of payments of two shops: one of them answers with a redirect, then with errors. */
async function fill(own: Twin): Promise<TwinPayment> {
  let answers = 0
  const shop = await own.addIntegration(() => new Response(null, { status: ++answers % 9 === 0 ? 503 : 204 }))
  const broken = await own.addIntegration(() => new Response('Moved to /hook/', { status: 308 }))
  const made: TwinPayment[] = []
  for (let n = 0; n < 40; n += 1) {
    const { address } = n % 8 === 5 ? broken : shop
    const one = await own.pay({ chainId: [1, 10, 137][n % 3] ?? 1, integrationAddress: address, memo: `order-${n}` })
    made.push(one)
    const invoice = {
      amount: `${n + 4}.50`,
      currency: 'EUR',
      settlementAmount: `${n + 5}.10`,
      settlementCurrency: 'USD',
    }
    await own.update(one, { state: 'pending', invoice, recipient: { title: 'Example Coffee', subtitle: null } })
    if (n % 6 !== 4) await own.update(one, { state: n % 11 === 7 ? 'failure' : 'success' })
    await own.advance(80_000)
  }
  await own.reorganize(10, 2)
  await own.mine(10, 3)
  const chosen = made.at(-3)
  if (chosen === undefined) throw new Error('There is no payment.')
  // Refused: the state is final.
  await own.update(chosen, { state: 'pending' })
  return chosen
}

async function take(name: string, path: string): Promise<void> {
  await page.setViewportSize({ width: Number(width), height: heights[name] ?? usualHeight })
  await page.goto(`${served.origin}/console${path}`, { waitUntil: 'load' })
  if (path === '') await page.locator('#chart-latency canvas').waitFor()
  await settled(page)
  const suffix = all === undefined ? '' : `-${width}-${scheme}`
  await page.screenshot({ path: resolve(folder, `console-${name}${suffix}.png`), fullPage: all !== undefined })
}

/** The receivers of a twin answer at once: latencies between 20 and 400 ms are made of the times of the attempts. */
function withLatencies(reads: ConsoleReads): void {
  const computeLatency = (startedAt: number) => 20 * 20 ** (((startedAt / 1_000) * 0.618) % 1)
  const timed = <Attempt extends { startedAt: number }>(attempt: Attempt) => ({
    ...attempt,
    latencyMs: computeLatency(attempt.startedAt),
  })
  const view = (delivery: DeliveryView): DeliveryView => ({ ...delivery, attempts: delivery.attempts.map(timed) })
  const { attempts, deliveries, deliveriesById, deliveriesByPayment, latencies } = reads
  Object.assign(reads, {
    attempts: async (query) => (await attempts(query)).map(timed),
    deliveriesById: async (ids) => (await deliveriesById(ids)).map(view),
    deliveriesByPayment: async (id) => (await deliveriesByPayment(id)).map(view),
    latencies: async (address) => (await latencies(address)).map((_, n) => computeLatency(n * 1_000)),
    async deliveries(query) {
      const found = await deliveries(query)
      return { ...found, rows: found.rows.map(view) }
    },
  } satisfies Partial<ConsoleReads>)
}

/** The badge of a live page says that it is connected. */
async function settled(own: Page): Promise<void> {
  if (await own.evaluate('document.body.dataset.live !== undefined'))
    await own.locator('#live', { hasText: /^live$/ }).waitFor()
}
