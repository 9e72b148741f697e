/** The store under test, and how a test gets one. @module */

import type { Store } from '@payment-integration/core/ports'
import { test } from 'vitest'

/** An empty store with the current schema. */
export interface StoreSubject {
  readonly store: Store
  /** Closes the store and removes what it kept. */
  close(): Promise<void>
  /** Opens another store on the same database, as another process does; the test closes it. */
  openAnother(): Promise<Store>
  /** Moves the clock of leases. Without it the suite waits in real time, for up to three seconds in a test. */
  advanceClock?(ms: number): void | Promise<void>
}

/** Opens a subject. */
export type OpenStore = () => Promise<StoreSubject>

/** Registers a test on a fresh store. */
export type StoreTest = (name: string, run: (subject: StoreSubject) => Promise<void>) => void

/** Makes {@link StoreTest} for an adapter. */
export function storeTests(open: OpenStore): StoreTest {
  return (name, run) => {
    test(name, async () => {
      const subject = await open()
      try {
        await run(subject)
      } finally {
        await subject.close()
      }
    })
  }
}

/** Runs a test on two stores over one database. */
export async function withAnother(
  subject: StoreSubject,
  run: (stores: readonly Store[]) => Promise<void>,
): Promise<void> {
  const another = await subject.openAnother()
  try {
    await run([subject.store, another])
  } finally {
    await another.close()
  }
}

/** A lease that lasts while a test does something, however slow the machine, and whose end it can wait for. */
export const lastingLeaseMs = ({ advanceClock }: StoreSubject): number => (advanceClock === undefined ? 3_000 : 60_000)

/**
 * Lets `ms` of the store's time pass until `done` resolves true: at once where the adapter moves its clock, else by
 * asking again and again. Rejects when that takes ten seconds longer.
 */
export async function passTime(subject: StoreSubject, ms: number, done: () => Promise<boolean>): Promise<void> {
  await subject.advanceClock?.(ms)
  const deadline = performance.now() + ms + 10_000
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error(`Nothing came of ${ms} ms within another ten seconds.`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
