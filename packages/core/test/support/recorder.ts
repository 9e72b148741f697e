/** Commits of blocks without an indexer. */
import type { ServiceEvent } from '../../src/events.js'
import type { Checkpoint } from '../../src/indexer/chain-store.js'
import { recordRange } from '../../src/payments/record-range.js'
import type { BlockRange } from '../../src/ports/chain.js'
import { fakeChain } from './fake-chain.js'
import { openStore } from './store.js'
import { hashOf } from './stored-payment.js'

export function recorder(finalityBlocks: number | null = 10) {
  const [chain, store] = [fakeChain(), openStore()]
  const checkpoint = () => store.payments.checkpoint(1)
  const record = async (range: BlockRange, given: { expected?: Checkpoint | null; head?: number } = {}) => {
    const { expected = await checkpoint(), head = range.last.number } = given
    return recordRange(store, { chainId: 1, expected, range, head, finalityBlocks, recording: 'all' })
  }
  const stored = (name: string, ordinal = 0) => {
    const payment = store.committed.payments.find((each) => each.txHash === hashOf(name) && each.ordinal === ordinal)
    if (payment === undefined) throw new Error(`${name} is not stored`)
    return payment
  }
  return {
    ...{ chain, store, checkpoint, record, stored },
    /** Records everything above the checkpoint. */
    async advance(to = chain.height()): Promise<readonly ServiceEvent[]> {
      const from = ((await checkpoint())?.blockNumber ?? -1) + 1
      return record(chain.rangeOf(from, to), { head: chain.height() })
    },
    async unwind(to: number) {
      await store.transaction(async (tx) => {
        await tx.markOffChainAbove(1, to)
        await tx.setCheckpoint(1, { blockNumber: to, blockHash: chain.at(to).hash })
      })
    },
    /** The snapshots of a payment, as `version state`. */
    snapshots(name: string) {
      const { id } = stored(name)
      return store.committed.snapshots
        .filter(({ paymentId }) => paymentId === id)
        .map(({ version, body }) => `${version} ${JSON.parse(new TextDecoder().decode(body)).state}`)
    },
  }
}
