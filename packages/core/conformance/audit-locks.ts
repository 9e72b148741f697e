/** Tests: audit chains are locked one by one. @module */
import { expect } from 'vitest'
import type { Store } from '../src/ports/store.js'
import type { AuditChainKey } from '../src/ports/store-audit.js'
import { chainOf } from './audit-records.js'
import { address, shop } from './fixtures.js'
import { type StoreTest, withAnother } from './subject.js'

const mostIntegrations = 200
const patienceMs = 3_000

/** An integration of another chain; null: all integrations have one. */
async function otherIntegration(store: Store): Promise<string | null> {
  const own = await chainOf(store, shop)
  for (let n = 1; n <= mostIntegrations; n += 1) if ((await chainOf(store, address(n))) !== own) return address(n)
  return null
}

/** A promise, and the function that resolves it. */
function gate(): [Promise<void>, () => void] {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return [opened, () => open()]
}

/** Locks a chain in a transaction, then another one in another. @returns The order in which both ended. */
async function orderOf([one, two]: readonly Store[], first: AuditChainKey, second: AuditChainKey): Promise<string[]> {
  const order: string[] = []
  const [[locked, reportLock], [released, release]] = [gate(), gate()]
  const outer = one?.transaction(async (tx) => {
    await tx.lockAudit(first)
    reportLock()
    await released
    order.push('first')
  })
  await locked
  const inner = two?.transaction((tx) => tx.lockAudit(second)).then(() => order.push('second'))
  await Promise.race([inner, new Promise((resolve) => setTimeout(resolve, patienceMs))])
  release()
  await Promise.all([outer, inner])
  return order
}

/** Registers the tests, for stores with several audit chains. */
export function auditLockTests(test: StoreTest): void {
  test('transactions that lock audit chains of two integrations, or of the service, do not wait for each other', async (subject) => {
    const { store } = subject
    if (store.audit.chains === 1) return
    const other = await otherIntegration(store)
    await withAnother(subject, async (stores) => {
      expect(await orderOf(stores, shop, null)).toEqual(['second', 'first'])
      expect(await orderOf(stores, null, shop)).toEqual(['second', 'first'])
      if (store.audit.chains > 2) expect(await orderOf(stores, shop, other)).toEqual(['second', 'first'])
    })
  })
}
