/** The store under test, and how a test gets one. @module */
import type { ClaimedDelivery } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { test } from 'vitest'
import { insertIntegration } from './fixtures.js'

/** An empty store with the current schema. */
export interface StoreSubject {
  readonly store: Store
  /** Closes the store and removes what it kept. */
  close(): Promise<void>
  /** Opens another store on the same database, as another process does; the test closes it. */
  openAnother(): Promise<Store>
  /** Moves the clock of leases. Without it the suite waits in real time, for up to 15 seconds in a test. */
  advanceClock?(ms: number): void | Promise<void>
}

/** Opens a subject. */
export type OpenStore = () => Promise<StoreSubject>

/** What a test gets. */
export interface StoreTools {
  readonly store: Store
  /** The store, and another one on its database, as another process opens it. */
  twoStores(): Promise<readonly [Store, Store]>
  /** Opens another store on the same database. It is closed after the test. */
  openAnother(): Promise<Store>
  /**
   * Lets `ms` of the store's time pass until `done` resolves true: at once where the adapter moves its clock, else by
   * asking again and again. Rejects when that takes five minutes longer.
   */
  passTime(ms: number, done?: () => Promise<boolean>): Promise<void>
  /** Leases that last while a test does something, however slow the machine; it can wait for the end of the second. */
  readonly lastingLeaseMs: number
  readonly endingLeaseMs: number
  /** Lets time pass, then claims until a claim is not empty. */
  claimAfter(ms: number, leaseMs?: number): Promise<readonly [ClaimedDelivery, ...ClaimedDelivery[]]>
}

/** Registers a test on a fresh store. */
export type StoreTest = (name: string, run: (tools: StoreTools) => Promise<void>) => void

/** Makes {@link StoreTest} for an adapter. */
export function storeTests(open: OpenStore): StoreTest {
  return (name, run) => {
    test(name, async () => {
      const subject = await open()
      const others: Store[] = []
      try {
        await run(getTools(subject, others))
      } finally {
        for (const other of others) await other.close()
        await subject.close()
      }
    })
  }
}

/** Stores the integration of the shop before each test runs. */
export const withShop =
  (plain: StoreTest): StoreTest =>
  (name, run) =>
    plain(name, async (tools) => {
      await insertIntegration(tools.store)
      await run(tools)
    })

function getTools(subject: StoreSubject, others: Store[]): StoreTools {
  const { store, advanceClock } = subject
  const openAnother = async () => {
    const other = await subject.openAnother()
    others.push(other)
    return other
  }
  const passTime: StoreTools['passTime'] = async (ms, done) => {
    await advanceClock?.(ms)
    const begun = performance.now()
    const hasPassed = async () => advanceClock !== undefined || performance.now() - begun > ms
    while (!(await (done ?? hasPassed)())) {
      if (performance.now() > begun + ms + 300_000)
        throw new Error(`Nothing came of ${ms} ms within another five minutes.`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  return {
    ...{ store, openAnother, passTime, lastingLeaseMs: 60_000 },
    endingLeaseMs: advanceClock === undefined ? 15_000 : 60_000,
    twoStores: async () => [store, await openAnother()],
    async claimAfter(ms, leaseMs = 60_000) {
      let claims = await store.deliveries.claim({ limit: 100, leaseMs })
      await passTime(ms, async () => {
        if (claims.length === 0) claims = await store.deliveries.claim({ limit: 100, leaseMs })
        return claims.length > 0
      })
      const [first, ...rest] = claims
      if (first === undefined) throw new Error('No delivery became due.')
      return [first, ...rest]
    },
  }
}
