/** Tests: deliveries, attempts, endpoints and the audit log as the console reads them. @module */
import type { AttemptRecord, EndpointJudge } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { auditRecord } from './audit.js'
import * as fixtures from './fixtures.js'
import { type StoreTest, withShop } from './subject.js'

const { answered, claimOne, epoch, failed, hash, indexAll, indexed, indifferent, integration } = fixtures
const { nextVersion, numbered, otherShop, settleOne, shop } = fixtures

const minute = 60_000
const start = epoch - (epoch % minute)

/** Four deliveries: one exhausted, one delivered, two pending; the last one of another integration. */
async function fourDeliveries(store: Store) {
  await fixtures.insertIntegration(store, integration({ address: otherShop }))
  const settle = async (attempt: AttemptRecord, kind: 'delivered' | 'exhausted') =>
    settleOne(store, await claimOne(store), attempt, { kind })
  const payment = await indexed(store)
  await settle(failed, 'exhausted')
  await nextVersion(store, payment)
  await settle({ ...answered, startedAt: epoch + minute }, 'delivered')
  await indexed(store, { txHash: hash(2), chainId: 10 })
  await indexed(store, { txHash: hash(3), integrationAddress: otherShop })
  return payment
}

/** One delivery of the shop for each attempt; every one is settled as exhausted. */
async function attempted(store: Store, attempts: readonly AttemptRecord[], judge: EndpointJudge): Promise<void> {
  for (const [n, attempt] of attempts.entries()) {
    await indexed(store, { txHash: hash(n) })
    const claim = await claimOne(store)
    await store.deliveries.settle([{ claim, attempt, verdict: { kind: 'exhausted' } }], judge)
  }
}
export function consoleDeliveryTests(plain: StoreTest): void {
  const test = withShop(plain)
  test('deliveries are read by payment and by id, with their attempts', async ({ store }) => {
    const payment = await fourDeliveries(store)
    const all = await store.deliveries.list({ limit: 10 })
    expect(await store.console.deliveriesByPayment(payment.id)).toEqual(all.slice(0, 2))
    const ids = all.slice(1, 3).map(({ deliveryId }) => deliveryId)
    expect(await store.console.deliveriesById([...ids, '987654'])).toEqual(all.slice(1, 3))
    expect(await store.console.deliveriesById([])).toEqual([])
  })

  test('attempts are listed newest first, and counted by minute and kind', async ({ store }) => {
    await fourDeliveries(store)
    const [newest, oldest] = await store.console.attempts({ since: 0, limit: 10 })
    expect(newest).toMatchObject({ number: 1, startedAt: epoch + minute, status: 204, reason: null, latencyMs: 30 })
    expect(oldest).toMatchObject({ startedAt: epoch, status: 500, reason: 'status_500', latencyMs: 12.5 })
    expect(await store.console.attempts({ since: epoch + 1, limit: 10 })).toEqual([newest])
    expect(await store.console.attempts({ since: 0, limit: 1 })).toEqual([newest])
    expect(await store.console.attemptsPerMinute({ since: 0, limit: 10 })).toEqual({
      counts: [
        { minute: start, kind: 'server_error', count: 1 },
        { minute: start + minute, kind: 'delivered', count: 1 },
      ],
      isCut: false,
    })
    expect((await store.console.attemptsPerMinute({ since: 0, limit: 1 })).isCut).toBe(true)
  })

  test('each failure is counted under its kind', async ({ store }) => {
    const kinds = [
      [null, 'timeout', 'timeout'],
      [null, 'connection', 'no_answer'],
      [200, 'malformed_answer', 'no_answer'],
      [308, 'status_308', 'redirect'],
      [404, 'status_404', 'client_error'],
      [503, 'status_503', 'server_error'],
      [200, null, 'delivered'],
    ] as const
    const attempts = kinds.map(([status, reason]) => ({ ...answered, status, reason }))
    await attempted(store, attempts, indifferent)
    const { counts } = await store.console.attemptsPerMinute({ since: 0, limit: 10 })
    const counted = counts.flatMap(({ kind, count }) => Array.from({ length: count }, () => kind))
    expect(counted.sort()).toEqual(kinds.map(([, , kind]) => kind).sort())
  })

  test('the last failure of an integration is its newest failed attempt', async ({ store }) => {
    await fourDeliveries(store)
    expect(await store.console.lastFailure(shop)).toEqual({ ...failed, deliveryId: expect.any(String) })
    expect(await store.console.lastFailure(otherShop)).toBeNull()
  })

  for (const verdict of [{ kind: 'retry', inMs: 60_000 }, { kind: 'exhausted' }] as const)
    test(`the last failure stays while newer deliveries wait unsent, after ${verdict.kind}`, async ({ store }) => {
      await indexed(store, { txHash: hash(1) })
      const claim = await claimOne(store)
      await settleOne(store, claim, failed, verdict)
      await indexAll(store, numbered(60, 2))
      expect(await store.console.lastFailure(shop)).toEqual({ ...failed, deliveryId: claim.deliveryId })
      expect(await store.console.latencies(shop)).toEqual([failed.latencyMs])
    })

  test('the audit log is read newest first', async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.lockAudit()
      for (const seq of [1, 2, 3]) await tx.appendAudit(auditRecord(seq))
    })
    const seqs = async (...given: Parameters<Store['console']['audit']>) =>
      (await store.console.audit(...given)).map(({ seq }) => seq)
    expect(await seqs({ limit: 2 })).toEqual([3, 2])
    expect(await seqs({ beforeSeq: 2, limit: 2 })).toEqual([1])
    expect(await seqs({ beforeSeq: 1, limit: 2 })).toEqual([])
  })

  plain('integrations come by address, in pages, each once, and without secrets', async ({ store }) => {
    const sealed = integration().signingSecret
    const previousSigningSecret = { ...sealed, until: epoch + 1 }
    await fixtures.insertIntegration(store, integration({ name: 'First', previousSigningSecret }))
    await fixtures.insertIntegration(
      store,
      integration({ address: otherShop, enabled: false, preparedSigningSecret: sealed }),
    )
    const all = await store.console.integrations({ limit: 10 })
    const stored = await store.integrations.list()
    expect(all).toEqual(
      stored.map(({ address, name, notificationUrl, enabled, createdAt, ...secrets }) => ({
        ...{ address, name, notificationUrl, enabled, createdAt, health: null },
        signingSecretPrepared: secrets.preparedSigningSecret !== null,
        previousSigningSecretUntil: secrets.previousSigningSecret?.until ?? null,
      })),
    )
    const first = await store.console.integrations({ limit: 1 })
    const rest = await store.console.integrations({ limit: 10, afterAddress: first[0]?.address })
    expect([...first, ...rest]).toEqual(all)
  })

  test('an integration comes with the health of its endpoint', async ({ store }) => {
    await fixtures.insertIntegration(store, integration({ address: otherShop }))
    await attempted(store, [failed], (before) => ({ ...before, failures: 1, blockMs: null }))
    const [expected] = await store.deliveries.endpoints()
    const health = (await store.console.integrations({ limit: 10 })).map((each) => [each.address, each.health] as const)
    expect(Object.fromEntries(health)).toEqual({ [shop]: expected, [otherShop]: null })
    expect([health.length, expected?.failures]).toEqual([2, 1])
    const failing = async (afterAddress?: string) =>
      (await store.console.integrations({ isFailing: true, afterAddress, limit: 10 })).map(({ address }) => address)
    expect(await failing()).toEqual([shop])
    expect(await failing(shop)).toEqual([])
  })

  test('latencies are of answers and of timeouts, by integration', async ({ store }) => {
    await fixtures.insertIntegration(store, integration({ address: otherShop }))
    const timeout = { ...failed, status: null, excerpt: null, reason: 'timeout', latencyMs: 5_000 }
    const unconnected = { ...timeout, reason: 'connection', latencyMs: 1 }
    const attempts = [{ ...answered, latencyMs: 30 }, { ...failed, latencyMs: 12.5 }, timeout, unconnected]
    await attempted(store, attempts, indifferent)
    expect((await store.console.latencies(shop)).sort((a, b) => a - b)).toEqual([12.5, 30, 5_000])
    expect(await store.console.latencies(otherShop)).toEqual([])
  })
}
