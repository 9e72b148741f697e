import type { PaymentState } from '@payment-integration/contract'
import { describe, expect, test } from 'vitest'
import { runSeed, seeded } from '../../../store-sql/test/conformance/random.js'
import { applyUpdate } from '../../test/support/apply-update.js'
import { fakeChain } from '../../test/support/fake-chain.js'
import { type IndexerParts, setUpIndexer } from '../../test/support/indexer-setup.js'
import { openStore } from '../../test/support/store.js'
import { hashOf } from '../../test/support/stored-payment.js'
import { StoreError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import type { StoredPayment } from '../payments/record.js'
import type { NewSnapshot } from '../ports/store-transaction.js'

/** `CONFORMANCE_SEED` repeats a run. */
const firstSeed = runSeed()
const runs = 40
const rounds = 25

/** Runs a chain that forks, an indexer that restarts, and a processor; checks the stored rows after every round. */
async function simulate(seed: number): Promise<{ drops: number; returns: number; forks: number }> {
  const random = seeded(seed)
  const below = (end: number) => Math.floor(random() * end)
  const finalityBlocks = [0, 1, 3, 8, 20][below(5)] ?? 0
  const parts: IndexerParts = { chain: fakeChain(), store: openStore() }
  const { chain, store } = parts
  const where = `seed ${seed}, ${finalityBlocks} confirmations`
  const height = () => chain.endpoints()[0]?.head ?? 0
  /** Transactions of orphaned blocks, which may be included again. */
  let orphaned: string[] = []
  /** Number of transactions so far. */
  let made = 0
  const changes = new Map<string, number>()
  /** The processor's last update by transaction; an update after the drop overrides the chain. */
  const updated = new Map<string, { state: PaymentState; dropped: boolean }>()
  const count = { drops: 0, returns: 0, forks: 0 }
  let updates = 0

  const holds = (hash: string) => ({ name: 'any', txHash: hash, source: { chainId: 1, txHash: hash } })
  const contents = () => {
    const hashes: string[] = []
    if (random() < 0.6) {
      made += 1
      hashes.push(hashOf(`payment ${made}`))
    }
    orphaned = orphaned.filter((hash) => {
      const isIncluded = random() < 0.06
      if (isIncluded) hashes.push(hash)
      return !isIncluded
    })
    return hashes.flatMap((hash) => [holds(hash), ...(hash.endsWith('7') ? [{ ...holds(hash), ordinal: 1 }] : [])])
  }
  const onChain = () =>
    new Map(chain.rangeOf(0, height()).payments.map((facts) => [`${facts.txHash}:${facts.ordinal}`, facts]))

  async function sendUpdate() {
    const indexed = store.committed.payments.filter(({ primary }) => primary)
    const payment = indexed[below(indexed.length)]
    if (payment === undefined) return
    const dropped = payment.dropped !== null
    const state = dropped ? 'refund_pending' : (['pending', 'success'] as const)[below(2)]
    if (state === undefined) return
    updates += 1
    const id = `update-${updates}`
    const { result, events } = await applyUpdate(store, { id, chainId: '1', txHash: payment.txHash, state })
    countChanges(events)
    if (result.outcome === 'applied') updated.set(payment.txHash, { state, dropped })
  }
  function countChanges(events: readonly ServiceEvent[]) {
    for (const event of events)
      if (event.type === 'payment.changed') changes.set(event.txHash, (changes.get(event.txHash) ?? 0) + 1)
  }

  /** Describes the rows that break a rule. */
  function brokenRules(before: ReadonlyMap<string, StoredPayment>): string[] {
    const wrong: string[] = []
    const mined = onChain()
    const { payments, snapshots } = store.committed
    const stored = new Set(payments.map(({ txHash, ordinal }) => `${txHash}:${ordinal}`))
    const sent = new Map<string, NewSnapshot[]>()
    for (const snapshot of snapshots) sent.set(snapshot.paymentId, [...(sent.get(snapshot.paymentId) ?? []), snapshot])
    for (const key of mined.keys()) if (!stored.has(key)) wrong.push(`${key} is missing`)
    for (const payment of payments) {
      const { id, txHash, ordinal, state, version, dropped, offChain, primary, blockNumber } = payment
      const facts = mined.get(`${txHash}:${ordinal}`)
      const isFinal = blockNumber + finalityBlocks <= height()
      const update = updated.get(txHash)
      const wantedState = dropped !== null && !update?.dropped ? 'failure' : (update?.state ?? null)
      const wantedVersion = 1 + (primary ? (changes.get(txHash) ?? 0) : 0)
      const bodies = sent.get(id) ?? []
      const newest = bodies.at(-1)
      const was = before.get(id)
      const wasGone = was === undefined || was.dropped !== null || dropped !== null
      const rules = {
        'its mark is wrong': offChain === (facts === undefined),
        'its block is wrong': facts === undefined || facts.blockHash === payment.blockHash,
        'its block number is wrong': facts === undefined || facts.blockNumber === blockNumber,
        'it is dropped too early or too late': (dropped !== null) === (facts === undefined && isFinal),
        'its state is wrong': state === (primary ? wantedState : null),
        'a change is not published': version === wantedVersion,
        'a version has no snapshot': bodies.length === (primary ? version : 0),
        'a snapshot is out of order': bodies.every((snapshot, index) => snapshot.version === index + 1),
        'the newest snapshot is wrong': newest === undefined || stateIn(newest) === state,
        'it changed although it only moved':
          wasGone || blockNumber > was.blockNumber + finalityBlocks || version === was.version,
      }
      for (const [what, holds] of Object.entries(rules)) if (!holds) wrong.push(`${txHash} ${ordinal}: ${what}`)
      if (update !== undefined && dropped === null) updated.set(txHash, { ...update, dropped: false })
      if (was?.dropped === null && dropped !== null) count.drops += 1
      if (was !== undefined && was.dropped !== null && dropped === null) count.returns += 1
    }
    return wrong
  }

  let setup = setUpIndexer({ finalityBlocks }, parts)
  chain.mine(5, contents)
  await setup.catchUp()
  for (let round = 0; round < rounds; round += 1) {
    const checkpoint = (await store.payments.checkpoint(1))?.blockNumber ?? 0
    // Blocks and forks while the indexer rests; no fork orphans a final block.
    for (let step = below(3); step >= 0; step -= 1) {
      const depth = Math.min(
        below(finalityBlocks + 1 + height() - checkpoint),
        height() - Math.max(1, checkpoint - finalityBlocks),
      )
      if (random() < 0.7 && depth > 0) {
        count.forks += 1
        const left = chain.rangeOf(height() - depth + 1, height()).payments
        orphaned.push(...new Set(left.map(({ txHash }) => txHash)))
        chain.fork(depth, contents)
      }
      chain.mine(below(6) + 1, contents)
    }
    chain.maxRange = [1, 2, 7, 50][below(4)] ?? 1
    if (random() < 0.3) setup = setUpIndexer({ finalityBlocks }, parts)
    if (random() < 0.3) store.failures.push(new StoreError('ERR_STORE_BUSY', 'locked'))
    const before = new Map(store.committed.payments.map((payment) => [payment.id, payment]))
    const seen = setup.events.length
    for (let tries = 0; tries < 50; tries += 1) {
      try {
        if (await setup.indexer.step()) break
      } catch (thrown) {
        if (!(thrown instanceof StoreError)) throw new Error(where, { cause: thrown })
      }
    }
    countChanges(setup.events.slice(seen))
    expect(brokenRules(before), `${where}, round ${round}`).toEqual([])
    for (let calls = below(4); calls > 0; calls -= 1) await sendUpdate()
  }
  return count
}

const stateIn = ({ body }: NewSnapshot) => JSON.parse(new TextDecoder().decode(body)).state

describe('random reorganisations, downtime, ranges and updates', () => {
  test(`stored payments match the chain, states fail and return as decided, versions have no gap (seeds from ${firstSeed})`, async () => {
    const total = { drops: 0, returns: 0, forks: 0 }
    for (let run = 0; run < runs; run += 1) {
      const { drops, returns, forks } = await simulate(firstSeed + run)
      total.drops += drops
      total.returns += returns
      total.forks += forks
    }
    // Without these events the run would prove nothing.
    expect(total.forks).toBeGreaterThan(2 * runs)
    expect(total.drops).toBeGreaterThan(2 * runs)
    expect(total.returns).toBeGreaterThan(2 * runs)
  })
})
