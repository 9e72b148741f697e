/** Tests: the limits and the order of a claim. See docs/decisions/fairness.md. @module */
import type { ClaimedDelivery, ClaimRequest } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import * as fixtures from './fixtures.js'
import type { StoreTest } from './subject.js'

const { address, endpoint, failed, hash, indexAll, integration, nextVersion, primary, settleOne, shop } = fixtures

const [a, b, c] = [address(0xa), address(0xb), address(0xc)] as const
const lease = { limit: 100, leaseMs: 60_000 }

/** Registers integrations. */
async function register(store: Store, ...addresses: readonly string[]): Promise<void> {
  for (const own of addresses) await fixtures.insertIntegration(store, integration({ address: own }))
}

/** Registers integrations with URLs on one server, `shared.example:443`. */
async function registerShared(store: Store, ...addresses: readonly string[]): Promise<void> {
  for (const own of addresses)
    await fixtures.insertIntegration(
      store,
      integration({ address: own, notificationUrl: `https://shared.example/${own}` }),
    )
}

/** Creates one delivery per name, in order; their hashes count from `from`. */
async function owe(store: Store, names: readonly string[], from = 1): Promise<void> {
  const owed = names.map((integrationAddress, n) => primary({ txHash: hash(from + n), integrationAddress }))
  await indexAll(store, owed)
}

/** Creates one due retry per name. */
async function oweRetries(store: Store, names: readonly string[], from = 1): Promise<void> {
  await owe(store, names, from)
  for (const claim of await store.deliveries.claim({ limit: names.length, leaseMs: 60_000 }))
    await settleOne(store, claim, failed, { kind: 'retry', inMs: 0 })
}

const numbers = (claims: readonly ClaimedDelivery[]) => claims.map(({ txHash }) => Number(BigInt(txHash)))
/** POSTs in flight. */
const counts = (byName: Readonly<Record<string, number>>) => new Map(Object.entries(byName))
const times = <T>(count: number, value: T): T[] => Array<T>(count).fill(value)
/** The numbers of what a claim gets. */
const claimed = async (store: Store, request: Partial<ClaimRequest> = {}) =>
  numbers(await store.deliveries.claim({ ...lease, ...request }))

export function fairnessTests(test: StoreTest): void {
  test('POSTs in flight count towards the limit of their endpoint, and of no other', async ({ store }) => {
    await register(store, a, b, c)
    await owe(store, [...times(20, a), ...times(20, b), ...times(20, c)])
    const request: ClaimRequest = { ...lease, limit: 60, perEndpoint: 5 }
    const inFlightByEndpoint = counts({ [endpoint(a)]: 5, [endpoint(b)]: 3, [endpoint(address(0xd))]: 100 })
    expect(await claimed(store, { ...request, inFlightByEndpoint })).toEqual([41, 42, 43, 21, 44, 22, 45])
    const full = new Map([a, b, c].map((own) => [endpoint(own), 7]))
    expect(await store.deliveries.claim({ ...request, inFlightByEndpoint: full })).toEqual([])
  })

  test('a claim fills its free slots from endpoints behind those at their limit', async ({ store }) => {
    const full = Array.from({ length: 6 }, (_, n) => address(0x100 + n))
    await register(store, ...full, a)
    await owe(store, [...full.flatMap((own) => times(40, own)), ...times(10, a)])
    const inFlightByEndpoint = new Map(full.map((own) => [endpoint(own), 32]))
    expect(await claimed(store, { limit: 4, perEndpoint: 32, inFlightByEndpoint })).toEqual([241, 242, 243, 244])
  })

  test('the endpoint with the fewest POSTs in flight goes first, whatever the age of a backlog', async ({ store }) => {
    await register(store, a, b, c)
    await owe(store, times(50, a))
    await owe(store, times(4, b), 101)
    await owe(store, [c], 201)
    const inFlightByEndpoint = counts({ [endpoint(a)]: 4, [endpoint(b)]: 2 })
    expect(await claimed(store, { limit: 6, inFlightByEndpoint })).toEqual([201, 101, 102, 1, 103, 2])
    // An endpoint has fewer deliveries than its even share: the claim reads more of the others.
    const next = { limit: 6, inFlightByEndpoint: counts({ [endpoint(b)]: 4 }) }
    expect(await claimed(store, next)).toEqual([3, 4, 5, 6, 7, 104])
    expect(await claimed(store, { limit: 4 })).toEqual([8, 9, 10, 11])
  })

  test('integrations with URLs on one server share its limit and its turns', async ({ store }) => {
    await register(store, a, b)
    const shared = [address(0x51), address(0x52)]
    await registerShared(store, ...shared)
    const backlog = shared.flatMap((own) => times(10, own))
    await owe(store, backlog)
    await owe(store, [a, b], 101)
    expect(await claimed(store, { limit: 3 })).toEqual([1, 101, 102])
    expect(await store.deliveries.claim({ ...lease, perEndpoint: 5 })).toHaveLength(5)
    const inFlightByEndpoint = counts({ 'shared.example:443': 5 })
    expect(await store.deliveries.claim({ ...lease, perEndpoint: 5, inFlightByEndpoint })).toEqual([])
  })

  test('at one server an old backlog of one integration keeps no other one waiting', async ({ store }) => {
    await registerShared(store, a, b, c)
    await register(store, address(0xd))
    await owe(store, times(60, a))
    await owe(store, times(3, b), 101)
    await owe(store, [c, address(0xd)], 201)
    const claims = await store.deliveries.claim({ ...lease, limit: 12 })
    const isShared = ({ notificationUrl }: ClaimedDelivery) => notificationUrl.startsWith('https://shared.example/')
    expect(numbers(claims.filter((claim) => !isShared(claim)))).toEqual([202])
    expect(numbers(claims.filter(isShared))).toEqual([1, 101, 201, 2, 102, 3, 103, 4, 5, 6, 7])
  })

  test('at one server the integration with the fewest POSTs in flight goes first, in every lane', async ({ store }) => {
    await registerShared(store, a, b, c)
    await oweRetries(store, times(20, a))
    await oweRetries(store, times(2, b), 31)
    await owe(store, times(60, a), 101)
    await owe(store, times(5, b), 201)
    await owe(store, times(5, c), 301)
    const inFlightByEndpoint = counts({ 'shared.example:443': 7 })
    const inFlightByIntegration = counts({ [a]: 4, [b]: 2, [c]: 1 })
    const request = { ...lease, limit: 8, perEndpoint: 15, inFlightByEndpoint, inFlightByIntegration }
    const claims = numbers(await store.deliveries.claim(request))
    expect(claims[0]).toBe(301)
    expect(claims.toSorted((x, y) => x - y)).toEqual([101, 201, 202, 203, 301, 302, 303, 304])
    const most = counts({ [a]: 30, [c]: 1 })
    const behind = { ...request, inFlightByEndpoint: counts({ 'shared.example:443': 31 }), inFlightByIntegration: most }
    expect(numbers(await store.deliveries.claim({ ...behind, limit: 1, perEndpoint: 32 }))).toEqual([204])
    expect(await store.deliveries.claim({ ...behind, limit: 4, perEndpoint: 31 })).toEqual([])
    const rest = { ...lease, limit: 100, inFlightByIntegration: counts({ [a]: 70 }) }
    const last = numbers(await store.deliveries.claim(rest)).filter((n) => n < 101)
    expect(last.slice(0, 3)).toEqual([31, 32, 1])
  })

  test('equally loaded integrations at one server take turns, however old the backlog of some', async ({ store }) => {
    await registerShared(store, a, b, c)
    await owe(store, [...times(5, a), ...times(5, b)])
    await owe(store, [c], 101)
    const served: string[] = []
    const inFlightByEndpoint = counts({ 'shared.example:443': 1 })
    for (let n = 0; n < 6; n += 1)
      for (const { integrationAddress } of await store.deliveries.claim({ ...lease, limit: 1, inFlightByEndpoint }))
        served.push(integrationAddress)
    expect(served).toEqual([a, b, c, a, b, a])
  })

  test('no endpoint gets more POSTs than it leaves slots free', async ({ store }) => {
    await register(store, a, b)
    await owe(store, [...times(30, a), ...times(30, b)])
    const claims = await store.deliveries.claim({ ...lease, limit: 12, freeSlots: 12 })
    expect(numbers(claims)).toEqual([1, 31, 2, 32, 3, 33, 4, 34])
    const inFlightByEndpoint = counts({ [endpoint(a)]: 4, [endpoint(b)]: 4 })
    expect(await store.deliveries.claim({ ...lease, limit: 4, freeSlots: 4, inFlightByEndpoint })).toEqual([])
    const next = await store.deliveries.claim({ ...lease, limit: 2, freeSlots: 5, inFlightByEndpoint })
    expect(numbers(next)).toEqual([5])
  })

  test('hundreds of endpoints take turns until each was served, and none twice before', async ({ store }) => {
    const many = Array.from({ length: 300 }, (_, n) => address(0x1000 + n))
    await register(store, ...many)
    await owe(store, [...many, ...many])
    const inFlightByEndpoint = new Map<string, number>()
    const served: string[] = []
    for (let round = 0; round < 6; round += 1)
      for (const { integrationAddress } of await store.deliveries.claim({ ...lease, limit: 50, inFlightByEndpoint })) {
        served.push(integrationAddress)
        const own = endpoint(integrationAddress)
        inFlightByEndpoint.set(own, (inFlightByEndpoint.get(own) ?? 0) + 1)
      }
    expect(served.toSorted()).toEqual(many)
    const rest = await store.deliveries.claim({ ...lease, limit: 1_000 })
    expect(rest.map(({ integrationAddress }) => integrationAddress).toSorted()).toEqual(many)
  })

  test('an endpoint at its limit hides no endpoint behind it', async ({ store }) => {
    const many = Array.from({ length: 120 }, (_, n) => address(0x1000 + n))
    await registerShared(store, ...many)
    await register(store, address(0xffff))
    await owe(store, [...many, ...many, address(0xffff)])
    const inFlightByEndpoint = counts({ 'shared.example:443': 8 })
    const claims = await store.deliveries.claim({ ...lease, limit: 8, perEndpoint: 8, inFlightByEndpoint })
    expect(numbers(claims)).toEqual([241])
  })

  test('a claim has at most `maxRetries` retries, and first attempts take the rest', async ({ store }) => {
    await register(store, a)
    await oweRetries(store, times(10, a))
    await owe(store, times(3, a), 101)
    expect(await claimed(store, { limit: 8, maxRetries: 2 })).toEqual([101, 102, 103, 1, 2])
    expect(await store.deliveries.claim({ ...lease, maxRetries: 0 })).toEqual([])
    expect(await claimed(store, { limit: 3, maxRetries: 9 })).toEqual([3, 4, 5])
    expect(await claimed(store)).toEqual([6, 7, 8, 9, 10])
  })

  test('replays come last, and share the limit of retries', async ({ store }) => {
    await register(store, a)
    await owe(store, times(3, a))
    for (const claim of await store.deliveries.claim(lease))
      await settleOne(store, claim, failed, { kind: 'exhausted' })
    await store.transaction((tx) => tx.replayDeliveries({ limit: 10 }))
    await oweRetries(store, times(3, a), 11)
    await owe(store, times(2, a), 21)
    const claims = await store.deliveries.claim({ ...lease, maxRetries: 5 })
    expect(numbers(claims)).toEqual([21, 22, 11, 12, 13, 1, 2])
    expect(claims.map(({ replay }) => replay)).toEqual([...times(5, false), true, true])
    expect(await claimed(store)).toEqual([3])
  })

  test('one limit holds over all lanes of an endpoint', async ({ store }) => {
    await register(store, a, b)
    await oweRetries(store, [...times(6, a), ...times(6, b)])
    await owe(store, times(3, a), 101)
    const claims = await store.deliveries.claim({ ...lease, perEndpoint: 5 })
    expect(numbers(claims)).toEqual([101, 102, 103, 7, 8, 9, 1, 10, 2, 11])
  })

  test('superseded retries take no slots', async ({ store }) => {
    await register(store, shop)
    await oweRetries(store, times(12, shop))
    for (let n = 1; n <= 10; n += 1) await nextVersion(store, { ...primary({ txHash: hash(n) }).facts })
    const newer = await store.deliveries.claim({ ...lease, limit: 10, maxRetries: 0 })
    expect(newer.map(({ version }) => version)).toEqual(times(10, 2))
    expect(await claimed(store, { limit: 2, maxRetries: 2, perEndpoint: 2 })).toEqual([11, 12])
    expect(await store.deliveries.count({ status: 'superseded' })).toBe(10)
  })
}
