import type { PaymentState, ProcessorUpdate, UpdateOutcome } from '@payment-integration/contract'
import { paymentStates } from '@payment-integration/contract'
import { expect, test, vi } from 'vitest'
import { manualClock, turns } from '../../test/support/manual-clock.js'
import { recordingLogger } from '../../test/support/recording-logger.js'
import { openStore } from '../../test/support/store.js'
import { getName, paymentFacts } from '../../test/support/stored-payment.js'
import { deferred, start, until } from '../../test/support/until.js'
import { ChainError, StoreError } from '../errors.js'
import type { PollerOptions } from '../internal/values.js'
import type { ReceiptSource } from '../ports/chain.js'
import type { StoredPayment } from './payment.js'
import { createReceiptPoller } from './receipts.js'

const updateFor = (payment: StoredPayment): ProcessorUpdate => ({
  id: `receipt-${getName(payment)}`,
  chainId: String(payment.chainId),
  txHash: payment.txHash,
  state: 'success',
})

/** A poller over stored payments. `lookup` plays the source; by default it knows that every payment succeeded. */
function pollerOverPayments(
  options: PollerOptions = {},
  lookup: ReceiptSource['lookup'] = async (payment) => updateFor(payment),
  scope?: ReceiptSource['scope'],
  answer: UpdateOutcome | Error = 'applied',
) {
  const clock = manualClock()
  const store = openStore()
  const logger = recordingLogger()
  const asked: string[] = []
  const updates: ProcessorUpdate[] = []
  const poller = createReceiptPoller({
    store,
    source: {
      scope,
      lookup(payment, signal) {
        asked.push(getName(payment))
        return lookup(payment, signal)
      },
    },
    async applyUpdate(update) {
      if (answer instanceof Error) throw answer
      updates.push(update)
      if (answer === 'applied')
        await store.transaction(async (tx) => {
          const { chainId, txHash, state = null } = update
          const payments = await tx.paymentsForChange({ chainId: Number(chainId), txHash })
          await tx.setStatuses(new Map(payments.map((each) => [each.id, { ...each, state }])))
        })
      return { id: update.id, outcome: answer, version: 2, reason: null }
    },
    clock,
    logger,
    ...options,
  })
  return {
    ...{ clock, logger, asked, updates, poller, store },
    async add(name: string, state: PaymentState | null = null, more: Partial<StoredPayment> = {}) {
      const facts = paymentFacts(name, { blockTimestamp: clock.now(), ...more })
      return store.transaction(async (tx) => {
        const [payment] = (await tx.upsertPayments([{ facts, primary: more.primary ?? true }])).inserted
        if (payment === undefined) throw new Error(`${name} is stored already`)
        const status = { ...payment, state }
        if (status.primary && state !== null) await tx.setStatuses(new Map([[payment.id, status]]))
        return status
      })
    },
  }
}

test.each([
  ['everyMs', 0],
  ['batch', Number.NaN],
  ['concurrency', 1.5],
])('%s of %d is a RangeError that names it', (name, value) => {
  expect(() => pollerOverPayments({ [name]: value })).toThrow(RangeError)
  expect(() => pollerOverPayments({ [name]: value })).toThrow(`${name} is ${value}`)
})

test('polls for primary payments without a final state, and for no other', async () => {
  const { poller, add, asked } = pollerOverPayments({}, async () => null)
  for (const state of [null, ...paymentStates]) await add(String(state), state)
  await add('another', 'pending', { primary: false })
  expect(await poller.runOnce()).toBe(0)
  expect(asked).toEqual(['null', 'pending', 'refund_pending'])
})

test('applies each update and counts the applied ones', async () => {
  const { poller, add, updates } = pollerOverPayments({}, async (payment) =>
    getName(payment) === 'b' ? null : updateFor(payment),
  )
  const payments = [await add('a'), await add('b'), await add('c', 'pending')]
  expect(await poller.runOnce()).toBe(2)
  expect(updates).toEqual([payments[0], payments[2]].map((payment) => payment && updateFor(payment)))
})

test.each(['unchanged', 'rejected', 'waiting'] as const)('an update that is %s does not count', async (outcome) => {
  const { poller, add, updates } = pollerOverPayments({}, undefined, undefined, outcome)
  await add('a')
  expect(await poller.runOnce()).toBe(0)
  expect(updates).toHaveLength(1)
})

test('an update that fails stops neither the round nor the loop', async () => {
  const busy = new StoreError('ERR_STORE_BUSY', 'database is locked')
  const { poller, add, asked, logger } = pollerOverPayments({}, undefined, undefined, busy)
  await add('a')
  await add('b')
  expect(await poller.runOnce()).toBe(0)
  expect(asked).toEqual(['a', 'b'])
  expect(logger.lines).toHaveLength(2)
})

const cases = [
  ['states', { states: ['pending', null] }, ['a1', 'b1', 'b2', 'c3']],
  ['chains', { chainIds: [3, 1, 9, 3] }, ['a1', 'b1', 'c3', 'd1']],
  ['both', { states: [null], chainIds: [2, 3] }, ['c3']],
  ['no state', { states: [] }, []],
  ['no chain', { chainIds: [] }, []],
  ['final states, which have no effect', { states: ['success', 'refund_pending'] }, ['d1']],
] as const
test.each(cases)('the scope of a source of %s is all that is asked about or read', async (_, scope, expected) => {
  const { poller, add, asked, store } = pollerOverPayments({}, async () => null, scope)
  const { listUnsettled } = store.payments
  const chains = new Set<number>()
  store.payments.listUnsettled = (query) => {
    chains.add(query.chainId)
    return listUnsettled(query)
  }
  await add('a1', null)
  await add('b1', 'pending')
  await add('b2', 'pending', { chainId: 2 })
  await add('c3', null, { chainId: 3 })
  await add('d1', 'refund_pending')
  await add('e1', 'success')
  await poller.runOnce()
  expect([...asked].sort()).toEqual(expected)
  if ('chainIds' in scope) expect([...chains].sort()).toEqual([...new Set(scope.chainIds)].sort())
  if (expected.length === 0) expect(chains.size).toBe(0)
})

test('a store that cannot list one chain rejects the round after the other chains', async () => {
  const { poller, store, add, asked } = pollerOverPayments({ concurrency: 1 }, async () => turns().then(() => null))
  const { listUnsettled } = store.payments
  store.payments.listUnsettled = async (query) => {
    if (query.chainId === 1) throw new StoreError('ERR_STORE_UNAVAILABLE', 'no connection')
    return listUnsettled(query)
  }
  await add('a')
  for (const id of ['b', 'c', 'd']) await add(id, null, { chainId: 2 })
  await expect(poller.runOnce()).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
  expect(asked).toEqual(['b', 'c', 'd'])
  store.payments.unsettledChains = async () => {
    throw new StoreError('ERR_STORE_BUSY', 'database is locked')
  }
  await expect(poller.runOnce()).rejects.toMatchObject({ code: 'ERR_STORE_BUSY' })
})

test('an abort ends the round after the payment in flight', async () => {
  const stop = new AbortController()
  const { poller, add, asked } = pollerOverPayments({}, async (payment) => {
    stop.abort()
    return updateFor(payment)
  })
  await add('a')
  await add('b')
  expect(await poller.runOnce(stop.signal)).toBe(1)
  expect(asked).toEqual(['a'])
})

test('the loop polls at once, then every interval, continues after a failed round, and stops when aborted', async () => {
  const { poller, add, asked, clock, store, logger } = pollerOverPayments({}, async () => null)
  await add('a')
  const listUnsettled = store.payments.listUnsettled
  const loop = start(poller)
  await until('the first round', () => asked.length === 1 && clock.sleepers().length === 1)
  expect(asked).toEqual(['a'])
  store.payments.listUnsettled = async () => {
    throw new StoreError('ERR_STORE_BUSY', 'database is locked')
  }
  await clock.advance(15_000)
  expect(logger.lines).toMatchObject([{ level: 'error', fields: { error: 'ERR_STORE_BUSY: database is locked' } }])
  store.payments.listUnsettled = listUnsettled
  await clock.advance(14_999)
  expect(asked).toEqual(['a'])
  await clock.advance(1)
  expect(asked).toEqual(['a', 'a'])
  await loop.stop()
  expect(clock.sleepers()).toEqual([])
})

const unreachable = (chainId: number) => new ChainError('ERR_CHAIN_UNAVAILABLE', chainId, 'no answer')

test('a source that is slow is polled for as many payments of a chain at once as the concurrency allows', async () => {
  const answers = Array.from({ length: 7 }, () => deferred<ProcessorUpdate | null>())
  let next = 0
  const { poller, add, asked } = pollerOverPayments(
    { concurrency: 3 },
    async () => (await answers[next++]?.promise) ?? null,
  )
  const ids = answers.map((_, n) => `p${n}`)
  for (const id of ids) await add(id)
  const round = poller.runOnce()
  await until('three lookups', () => asked.length === 3)
  await turns()
  expect(asked).toEqual(ids.slice(0, 3))
  answers[1]?.resolve(null)
  await until('a fourth', () => asked.length === 4)
  await turns()
  expect(asked).toEqual(ids.slice(0, 4))
  for (const { resolve } of answers) resolve(null)
  await round
  expect(asked).toEqual(ids)
})

test('a source that is slow on one chain does not delay another, in this round and in the next ones', async () => {
  const never = deferred<null>()
  const { poller, add, asked, clock } = pollerOverPayments({ concurrency: 1 }, ({ chainId }) =>
    chainId === 1 ? never.promise : Promise.resolve(null),
  )
  for (const id of ['a', 'b', 'c']) await add(id)
  for (const id of ['x', 'y', 'z']) await add(id, 'pending', { chainId: 2 })
  const loop = start(poller)
  await until('the first round', () => asked.length === 4)
  await until('its end', () => clock.sleepers().length === 1)
  await clock.advance(15_000)
  await until('the second round', () => asked.length === 7)
  expect(asked.filter((id) => id >= 'x')).toEqual(['x', 'y', 'z', 'x', 'y', 'z'])
  expect(asked.filter((id) => id < 'x')).toEqual(['a'])
  const ended = vi.fn()
  const end = loop.stop().then(ended)
  await turns()
  expect(ended).not.toHaveBeenCalled()
  never.resolve(null)
  await end
  expect(asked).toHaveLength(7)
})

test('a chain that cannot be reached rests for the round, is logged once, and does not stop another', async () => {
  const { poller, add, asked, logger } = pollerOverPayments({ concurrency: 2, batch: 3 }, async ({ chainId }) => {
    if (chainId === 1) throw unreachable(chainId)
    return null
  })
  for (let n = 0; n < 9; n += 1) {
    await add(`a${n}`)
    await add(`b${n}`, null, { chainId: 2 })
  }
  await poller.runOnce()
  expect(asked.filter((id) => id.startsWith('a'))).toEqual(['a0', 'a1'])
  expect(asked.filter((id) => id.startsWith('b'))).toHaveLength(9)
  expect(logger.lines).toMatchObject([
    { level: 'warn', fields: { chainId: 1, error: 'ERR_CHAIN_UNAVAILABLE: no answer' } },
  ])
})

test('a chain that cannot be reached is polled on after the polled payments, then from the oldest again', async () => {
  let failing: readonly string[] = ['a1']
  const { poller, add, asked } = pollerOverPayments({ concurrency: 1 }, async (payment) => {
    if (failing.includes(getName(payment))) throw unreachable(payment.chainId)
    return null
  })
  for (const id of ['a0', 'a1', 'a2', 'a3']) await add(id)
  const round = async () => {
    asked.length = 0
    await poller.runOnce()
    return [...asked]
  }
  expect(await round()).toEqual(['a0', 'a1'])
  expect(await round()).toEqual(['a2', 'a3'])
  failing = ['a3']
  expect(await round()).toEqual(['a0', 'a1', 'a2', 'a3'])
  failing = []
  expect(await round()).toEqual(['a0', 'a1', 'a2', 'a3'])
})

const reasons = [null, 'ERR_CHAIN_UNAVAILABLE', { code: 7 }, { code: 'ERR_RECEIPT_INVALID' }]
test.each(reasons)('a source that rejects one payment with %j is polled for the others', async (reason) => {
  const { poller, add, asked, logger } = pollerOverPayments({ concurrency: 1 }, async (payment) => {
    if (getName(payment) === 'a') throw reason
    return updateFor(payment)
  })
  const { txHash } = await add('a')
  await add('b')
  expect(await poller.runOnce()).toBe(1)
  expect(asked).toEqual(['a', 'b'])
  expect(logger.lines).toMatchObject([{ level: 'warn', fields: { txHash, error: `a ${typeof reason} was thrown` } }])
})
