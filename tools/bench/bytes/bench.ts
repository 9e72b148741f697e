/** Measures the bytes of a payment's life: indexed, updated twice, each version delivered. @module */
import { loadavg } from 'node:os'
import type { ClaimedDelivery, SettledAttempt, Store } from '@payment-integration/core/ports'
import { type Opened, openEmpty, serviceOn } from '../updates/open.js'
import { integrations, rounds, shuffled, storePayments, updateAt } from '../updates/payments.js'
import { type ServerFigures, serverFigures } from '../updates/server-figures.js'

/** How much to measure. */
export interface BytesEffort {
  readonly payments: number
  /** Payments that are indexed, updated and delivered before the next ones. */
  readonly wave: number
}

/** Payments of a transaction, updates of a request. */
const batch = 100
/** Deliveries of a claim: those of a full dispatcher. */
const claimed = 256

/** Measures PostgreSQL and returns Markdown. */
export async function benchBytes(effort: BytesEffort): Promise<string> {
  const opened = await openEmpty('PostgreSQL')
  try {
    const before = await figuresOf(opened)
    await live(opened.store, effort)
    await opened.vacuum()
    return report(effort, before, await figuresOf(opened))
  } finally {
    await opened.remove()
  }
}

const figuresOf = ({ url }: Opened) => serverFigures(url ?? '')

async function live(store: Store, { payments, wave }: BytesEffort): Promise<void> {
  const service = serviceOn(store)
  for (const [n, address] of integrations.entries())
    await service.integrations.create({ address, notificationUrl: `http://127.0.0.1:9/${n}` })
  for (let from = 0; from < payments; from += wave) {
    const count = Math.min(wave, payments - from)
    for (let done = 0; done < count; done += batch)
      await storePayments(store, from + done, Math.min(batch, count - done))
    await deliver(store)
    const order = shuffled(from, count)
    for (let round = 0; round < rounds; round += 1) {
      for (let done = 0; done < count; done += batch)
        await service.applyUpdates(order.slice(done, done + batch).map((n) => updateAt(n, round)))
      await deliver(store)
    }
  }
}

async function deliver(store: Store): Promise<void> {
  for (;;) {
    const deliveries = await store.deliveries.claim({ limit: claimed, leaseMs: 600_000 })
    if (deliveries.length === 0) return
    await store.deliveries.settle(deliveries.map(settled), () => ({ failures: 0, blocks: 0, blockMs: null }))
  }
}

function settled(claim: ClaimedDelivery): SettledAttempt {
  const attempt = { startedAt: Date.now(), latencyMs: 12.5, status: 204, reason: null, excerpt: null, replay: false }
  return { claim, attempt, verdict: { kind: 'delivered' } }
}

function report({ payments }: BytesEffort, before: ServerFigures, after: ServerFigures): string {
  const each = (bytes: number) => Math.round(bytes / payments)
  const tables = Object.entries(after.tables)
    .map(([name, bytes]) => [name, each(bytes - (before.tables[name] ?? 0))] as const)
    .filter(([, bytes]) => bytes >= 1)
    .sort((a, b) => b[1] - a[1])
  const row = (name: string, bytes: number) => `| ${name} | ${bytes.toLocaleString('en')} |`
  return [
    '### Bytes of a payment, PostgreSQL',
    '',
    `${payments.toLocaleString('en')} payments with ${rounds} updates and ${rounds + 1} delivered versions each, then a vacuum; load ${loadavg()[0]?.toFixed(1)}.`,
    '',
    '| | bytes, indexes included |',
    '| --- | --- |',
    ...tables.map(([name, bytes]) => row(name, bytes)),
    row(
      '**on disk**',
      tables.reduce((sum, [, bytes]) => sum + bytes, 0),
    ),
    row('**WAL**', each(after.wal - before.wal)),
    '',
  ].join('\n')
}
