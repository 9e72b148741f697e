import { expect, test } from 'vitest'
import { applyUpdate } from '../../test/support/apply-update.js'
import { manualClock, turns } from '../../test/support/manual-clock.js'
import { recordingLogger } from '../../test/support/recording-logger.js'
import { seededRandom } from '../../test/support/seeded-random.js'
import { openStore } from '../../test/support/store.js'
import { hashOf, paymentFacts } from '../../test/support/stored-payment.js'
import { deferred, start } from '../../test/support/until.js'
import { ChainError, StoreError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import type { PollerOptions } from '../internal/values.js'
import { fulfillmentGraceBlocks } from '../payments/change-status.js'
import type { BridgeDeposit, Fulfillment, FulfillmentSource } from '../ports/chain.js'
import { createFulfillmentPoller, firstFulfillmentOrdinal } from './fulfillments.js'
import { dropAllOverdue } from './reindex.js'

const arrived = { address: `0x${'c2'.repeat(20)}`, symbol: 'USDT', decimals: 18 }

/** A deposit on chain 1 for chain 10; its transaction's hash is made from `name`. */
function bridgeDeposit(name: string, given: Partial<BridgeDeposit> = {}): BridgeDeposit {
  const payment = paymentFacts(name)
  return {
    ...{ payment, bridge: 'across', depositId: '7', destinationChainId: 10, receiver: payment.receiver },
    output: { token: arrived.address, amount: 900n },
    ...given,
  }
}

/** The fulfillment of that deposit; its transaction hash is made from `name`. */
function getFulfillment(name: string, deposit: BridgeDeposit, given: Partial<Fulfillment> = {}): Fulfillment {
  return {
    ...{ chainId: deposit.destinationChainId, txHash: hashOf(`fill ${name}`), blockNumber: 200 },
    ...{ logIndex: 5, position: given.logIndex ?? 5 },
    ...{ blockHash: hashOf('block 200'), blockTimestamp: Date.UTC(2026, 0, 2), receiver: deposit.receiver },
    tokenOut: { ...arrived, amount: deposit.output.amount },
    listedToken: { symbol: 'USDT', currency: 'USD' },
    ...given,
  }
}

/** A poller over a store with deposits, whose source answers the fulfillments of `fills`. */
async function setup(
  deposits: readonly BridgeDeposit[],
  given: {
    readonly lookup?: FulfillmentSource['lookup']
    readonly options?: PollerOptions
    readonly followed?: ReadonlySet<number>
  } = {},
) {
  const store = openStore()
  const clock = manualClock()
  const logger = recordingLogger()
  const events: ServiceEvent[] = []
  const fills = new Map<string, Fulfillment>()
  const asked: string[] = []
  const lookup: FulfillmentSource['lookup'] = given.lookup ?? (async ({ depositId }) => fills.get(depositId) ?? null)
  const source: FulfillmentSource = {
    async lookup(deposit, signal) {
      asked.push(deposit.depositId)
      return lookup(deposit, signal)
    },
  }
  await store.transaction((tx) => tx.upsertDeposits(deposits))
  const poller = () =>
    createFulfillmentPoller({
      ...{ store, source, clock, logger, ...given.options, followed: given.followed },
      publish: (event) => events.push(event),
    })
  const waiting = async () =>
    (await store.chains.waitingDeposits({ limit: 100 })).map(({ deposit }) => deposit.depositId)
  const payments = () => store.committed.payments
  return { store, clock, logger, events, fills, asked, poller, waiting, payments }
}

test('a fulfilled deposit becomes a payment of the destination, with version 1 and one snapshot', async () => {
  const deposit = bridgeDeposit('a')
  const { store, poller, waiting, payments, events, fills } = await setup([deposit])
  fills.set('7', getFulfillment('a', deposit))
  expect(await poller().runOnce()).toBe(1)
  const { integrationAddress, sender, receiver, memoHex, router, tokenIn } = deposit.payment
  expect(payments()).toMatchObject([
    {
      ...{ chainId: 10, txHash: hashOf('fill a'), ordinal: firstFulfillmentOrdinal + 5, logIndex: 5, blockNumber: 200 },
      ...{ blockHash: hashOf('block 200'), blockTimestamp: Date.UTC(2026, 0, 2) },
      source: { chainId: 1, txHash: hashOf('a') },
      ...{ integrationAddress, sender, receiver, memoHex, router, tokenIn },
      tokenOut: { address: deposit.output.token, symbol: 'USDT', decimals: 18, gross: 900n, net: 900n },
      pricing: { listedToken: { symbol: 'USDT', currency: 'USD' }, feeds: [], calledAmount: null, serviceFee: null },
      ...{ version: 1, state: null, primary: true, offChain: false },
    },
  ])
  const snapshots = store.committed.snapshots
  expect(snapshots).toHaveLength(1)
  expect(JSON.parse(new TextDecoder().decode(snapshots[0]?.body))).toEqual({
    ...{ integrationAddress, chainId: '10', txHash: hashOf('fill a'), version: 1 },
    ...{ state: null, recipient: null, invoice: null },
  })
  expect(await waiting()).toEqual([])
  expect(events).toEqual([
    {
      ...{ type: 'payment.indexed', blockNumber: 200, blockTimestamp: expect.any(Number), chainId: 10 },
      ...{ txHash: hashOf('fill a'), integrationAddress },
    },
  ])
})

const misplaced = 'its position is no whole number from 0 to 1000000000'

test.each<[string, Partial<Fulfillment>]>([
  ['it is on another chain than the deposit names', { chainId: 11 }],
  ['it paid another receiver than the deposit names', { receiver: `0x${'66'.repeat(20)}` }],
  ['it paid another token than the deposit names', { tokenOut: { ...arrived, address: '0x66', amount: 900n } }],
  ['it paid less than the deposit names', { tokenOut: { ...arrived, amount: 899n } }],
  ...[-1, 0.5, Number.NaN, 2_000_000_000].map((position): [string, Partial<Fulfillment>] => [misplaced, { position }]),
])('an answer is logged with its flaw, and not recorded: %s (%o)', async (flaw, changes) => {
  const deposit = bridgeDeposit('a')
  const { poller, payments, waiting, fills, logger } = await setup([deposit])
  fills.set('7', getFulfillment('a', deposit, changes))
  expect(await poller().runOnce()).toBe(0)
  expect(payments()).toEqual([])
  expect(await waiting()).toEqual(['7'])
  const message = 'a fulfillment does not fit its deposit'
  expect(logger.lines).toMatchObject([{ level: 'error', message, fields: { flaw } }])
})

/** A deposit of a shop, which is named by two hex digits. */
const depositOf = (digits: string, depositId = digits) => {
  const payment = paymentFacts(depositId, { integrationAddress: `0x${digits.repeat(20)}` })
  return bridgeDeposit(depositId, { payment, depositId })
}
const [one, two] = [depositOf('a1'), depositOf('a9')]
const getShop = ({ payment }: BridgeDeposit) => payment.integrationAddress ?? ''

test('an update of the second payment of a fill waits while only the first is recorded, and is applied later', async () => {
  const { store, poller, payments, fills } = await setup([one, two])
  const named = { chainId: '10', txHash: hashOf('fill both'), integrationAddress: getShop(two) }
  const update = (id: string, state: 'pending' | 'success') => applyUpdate(store, { ...named, id, state })
  await update('first', 'pending')
  for (const [logIndex, deposit] of [one, two].entries()) {
    fills.set(deposit.depositId, getFulfillment('both', deposit, { logIndex }))
    expect(await poller().runOnce()).toBe(1)
    if (deposit === one) expect(await update('second', 'success')).toMatchObject({ result: { outcome: 'waiting' } })
  }
  expect(payments().map(({ version, state }) => `${version} ${state}`)).toEqual(['1 null', '3 success'])
})

test('payments keep their identity when their transaction is mined again, at other places of another block', async () => {
  const { store, poller, payments, fills, events } = await setup([one, two])
  const places = () =>
    payments().map(({ ordinal, logIndex, integrationAddress, offChain, primary, version }) => ({
      ...{ ordinal, logIndex, integrationAddress, offChain, primary, version },
    }))
  const mine = (shift: number, blockNumber: number) => {
    for (const [index, deposit] of [one, two].entries()) {
      const block = { blockNumber, blockHash: hashOf(`${blockNumber}`) }
      const at = { logIndex: 5 + 2 * index + shift, position: 2 * index, ...block }
      fills.set(deposit.depositId, { ...getFulfillment('both', deposit), ...at })
    }
  }
  mine(0, 200)
  expect(await poller().runOnce()).toBe(2)
  const before = places()
  expect(before.map(({ ordinal }) => ordinal - firstFulfillmentOrdinal)).toEqual([0, 2])
  await store.transaction((tx) => tx.markOffChainAbove(10, 199))
  expect(places().map(({ offChain }) => offChain)).toEqual([true, true])
  mine(2, 201)
  expect(await poller().runOnce()).toBe(2)
  expect(places()).toEqual(before.map((place) => ({ ...place, logIndex: place.logIndex + 2 })))
  expect(events.map(({ type }) => type)).toEqual(['payment.indexed', 'payment.indexed'])
})

test('an answer with the position of another payment is logged and changes no payment, shown or hidden', async () => {
  const deposits = [one, depositOf('a1', 'hidden'), two, depositOf('a9', 'last')]
  const { poller, payments, waiting, fills, logger } = await setup(deposits, { options: { concurrency: 1 } })
  for (const [index, deposit] of deposits.entries())
    fills.set(deposit.depositId, getFulfillment('same', deposit, { logIndex: index, position: index % 2 }))
  expect(await poller().runOnce()).toBe(2)
  const before = payments()
  expect(before.map(({ source, primary }) => [source.txHash, primary])).toEqual([
    [hashOf('a1'), true],
    [hashOf('hidden'), false],
  ])
  expect(await poller().runOnce()).toBe(0)
  expect(payments()).toEqual(before)
  expect(await waiting()).toEqual(['a9', 'last'])
  const flaw = 'its position is that of another payment of the transaction'
  expect(logger.lines.map(({ fields }) => fields)).toMatchObject(Array.from({ length: 4 }, () => ({ flaw })))
})

test('a payment keeps its identity when its transaction has other logs in another block', async () => {
  const { store, poller, payments, fills } = await setup([one, two])
  for (const [index, deposit] of [one, two].entries())
    fills.set(deposit.depositId, getFulfillment('both', deposit, { logIndex: index }))
  expect(await poller().runOnce()).toBe(2)
  await store.transaction((tx) => tx.markOffChainAbove(10, 199))
  fills.delete(one.depositId)
  const block = { blockNumber: 201, blockHash: hashOf('201') }
  fills.set(two.depositId, getFulfillment('both', two, { logIndex: 0, ...block }))
  expect(await poller().runOnce()).toBe(1)
  expect(payments()).toMatchObject([
    { ordinal: firstFulfillmentOrdinal, integrationAddress: getShop(one), offChain: true, blockNumber: 200 },
    { ordinal: firstFulfillmentOrdinal + 1, integrationAddress: getShop(two), offChain: false, blockNumber: 201 },
  ])
})

test('a payment that left the destination fails 1,000 blocks after its height is final, and not when it is fulfilled again', async () => {
  const deposit = bridgeDeposit('a')
  const { store, poller, payments, fills } = await setup([deposit])
  fills.set('7', getFulfillment('a', deposit))
  await poller().runOnce()
  await store.transaction((tx) => tx.markOffChainAbove(10, 199))
  const events: ServiceEvent[] = []
  const indexTo = async (blockNumber: number) => {
    await store.transaction((tx) => tx.setCheckpoint(10, { blockNumber, blockHash: hashOf(`${blockNumber}`) }))
    for await (const event of dropAllOverdue(store, { chainId: 10, finalityBlocks: 12 })) events.push(event)
    return payments().map(({ version, state, offChain }) => ({ version, state, offChain }))
  }
  expect(await indexTo(211 + fulfillmentGraceBlocks)).toEqual([{ version: 1, state: null, offChain: true }])
  expect(await indexTo(212 + fulfillmentGraceBlocks)).toEqual([{ version: 2, state: 'failure', offChain: true }])
  expect(events).toMatchObject([{ type: 'payment.changed', version: 2, from: null, to: 'failure' }])
  expect(await poller().runOnce()).toBe(1)
  expect(await indexTo(900 + fulfillmentGraceBlocks)).toEqual([{ version: 3, state: null, offChain: false }])
})

test('the loop polls at once, then after each pause, survives a failing store, and stops with its signal', async () => {
  const { store, clock, poller, asked, logger } = await setup([bridgeDeposit('a')], { options: { everyMs: 1_000 } })
  const { waitingDeposits } = store.chains
  let fails = false
  store.chains.waitingDeposits = async (query) => {
    if (fails) throw new StoreError('ERR_STORE_BUSY', 'busy')
    return waitingDeposits(query)
  }
  const loop = start(poller())
  await turns()
  expect(asked).toHaveLength(1)
  fails = true
  await clock.advance(1_000)
  expect(logger.lines).toMatchObject([{ level: 'error', message: 'waiting deposits not listed' }])
  fails = false
  await clock.advance(1_000)
  expect(asked).toHaveLength(2)
  await loop.stop()
})

test.each([
  ['everyMs', 0],
  ['batch', Number.NaN],
  ['concurrency', 1.5],
])('%s of %d is a RangeError that names it', async (name, value) => {
  const { poller } = await setup([], { options: { [name]: value } })
  expect(poller).toThrow(`${name} is ${value}`)
})

const seeds = Array.from({ length: 12 }, (_, index) => index + 1)
test.each(seeds)('seed %d: fills, failures, reorgs and polls in any order leave one snapshot of each', async (seed) => {
  const random = seededRandom(seed)
  const pick = (below: number) => Math.floor(random.fraction() * below)
  const deposits = Array.from({ length: 12 }, (_, index) => {
    const payment = paymentFacts(`s${index}`, { blockNumber: 100 + index })
    return bridgeDeposit(`s${index}`, { depositId: String(index), payment })
  })
  const { store, poller, payments, fills, waiting } = await setup(deposits, { options: { batch: 1 + pick(5) } })
  for (let step = 0; step < 40; step++) {
    const deposit = deposits[pick(deposits.length)]
    const action = pick(4)
    if (action === 0 && deposit !== undefined) {
      const logIndex = pick(3) * 100 + Number(deposit.depositId)
      if (!fills.has(deposit.depositId))
        fills.set(deposit.depositId, getFulfillment(`tx${pick(4)}`, deposit, { logIndex }))
    } else if (action === 1) store.failures.push(new StoreError('ERR_STORE_BUSY', 'busy'))
    else if (action === 2 && deposit !== undefined) {
      const { blockNumber } = deposit.payment
      await store.transaction((tx) => tx.markOffChainAbove(1, blockNumber)).catch(() => undefined)
      await store.transaction((tx) => tx.upsertDeposits(deposits)).catch(() => undefined)
    } else await Promise.all(Array.from({ length: 1 + pick(3) }, () => poller().runOnce()))
  }
  store.failures.length = 0
  await store.transaction((tx) => tx.upsertDeposits(deposits))
  for (const deposit of deposits)
    if (!fills.has(deposit.depositId))
      fills.set(deposit.depositId, getFulfillment('late', deposit, { logIndex: 900 + Number(deposit.depositId) }))
  await poller().runOnce()
  expect(await waiting()).toEqual([])
  expect(payments()).toHaveLength(deposits.length)
  const shown = payments().filter(({ primary }) => primary)
  const { snapshots } = store.committed
  expect(snapshots.map(({ paymentId, version }) => `${paymentId} ${version}`).sort()).toEqual(
    shown.map(({ id }) => `${id} 1`).sort(),
  )
  expect(new Set(shown.map(({ txHash }) => txHash)).size).toBe(shown.length)
})

test('two deposits that one transaction paid are two payments; of one integration the first is shown', async () => {
  const deposits = [one, depositOf('a1', 'again'), two]
  const { store, poller, payments, events, fills } = await setup(deposits, { options: { concurrency: 1 } })
  for (const [index, deposit] of deposits.entries())
    fills.set(deposit.depositId, getFulfillment('same', deposit, { logIndex: index }))
  expect(await poller().runOnce()).toBe(3)
  expect(payments().map(({ primary }) => primary)).toEqual([true, false, true])
  expect(store.committed.snapshots.map(({ integrationAddress }) => integrationAddress)).toEqual([one, two].map(getShop))
  expect(events.map(({ type }) => type)).toEqual(['payment.indexed', 'payment.additional', 'payment.indexed'])
})

test('a deposit that left its chain during the poll is not recorded', async () => {
  const deposit = bridgeDeposit('a')
  const answer = deferred<Fulfillment>()
  const { store, poller, payments, events } = await setup([deposit], { lookup: () => answer.promise })
  const round = poller().runOnce()
  await turns()
  await store.transaction((tx) => tx.markOffChainAbove(1, 99))
  answer.resolve(getFulfillment('a', deposit))
  expect(await round).toBe(0)
  expect(payments()).toEqual([])
  expect(events).toEqual([])
})

test('where the destination is followed, the payment is recorded behind its indexer, and one of a router in the same transaction is shown', async () => {
  const deposit = bridgeDeposit('a')
  const fulfillment = getFulfillment('a', deposit)
  const { store, poller, payments, fills, waiting } = await setup([deposit], { followed: new Set([10]) })
  fills.set('7', fulfillment)
  expect(await poller().runOnce()).toBe(0)
  await store.transaction((tx) => tx.setCheckpoint(10, { blockNumber: 199, blockHash: hashOf('199') }))
  expect(await poller().runOnce()).toBe(0)
  expect(await waiting()).toEqual(['7'])
  const facts = paymentFacts('x', { chainId: 10, txHash: fulfillment.txHash, blockNumber: 200 })
  await store.transaction(async (tx) => {
    await tx.upsertPayments([{ facts, primary: true }])
    await tx.setCheckpoint(10, { blockNumber: 200, blockHash: hashOf('another block 200') })
  })
  expect(await poller().runOnce()).toBe(0)
  await store.transaction((tx) => tx.setCheckpoint(10, { blockNumber: 200, blockHash: fulfillment.blockHash }))
  expect(await poller().runOnce()).toBe(1)
  expect(payments().map(({ ordinal }) => ordinal)).toEqual([0, firstFulfillmentOrdinal + 5])
  expect(payments().map(({ primary }) => primary)).toEqual([true, false])
  expect(store.committed.snapshots).toEqual([])
})

test('a destination that cannot be reached rests for the round; deposits to others are asked about', async () => {
  const deposits = [10, 10, 42, 10].map((destinationChainId, index) =>
    bridgeDeposit(`d${index}`, { depositId: String(index), destinationChainId }),
  )
  const { poller, asked, logger } = await setup(deposits, {
    options: { concurrency: 1, batch: 2 },
    lookup: async ({ destinationChainId }) => {
      if (destinationChainId === 10) throw new ChainError('ERR_CHAIN_UNAVAILABLE', 10, 'no answer')
      return null
    },
  })
  const it = poller()
  await it.runOnce()
  expect(asked).toEqual(['0', '2'])
  await it.runOnce()
  expect(asked).toEqual(['0', '2', '0', '2'])
  expect(logger.lines.map(({ message }) => message)).toEqual(['fulfillment not obtained', 'fulfillment not obtained'])
})
