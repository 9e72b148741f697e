/** Reads indexed blocks again, tells what differs, and repairs it. Source: issue 4, points 4 and 9; DESIGN section 3 (reorganisation). @module */
import { ChainError, CheckpointMovedError } from '../errors.js'
import type { EventSink } from '../events.js'
import { isOnChain } from '../indexer/is-on-chain.js'
import { assertWhole } from '../internal/assert-whole.js'
import { backoffMs } from '../internal/backoff.js'
import { type Confirmations, createFinality } from '../legacy/finality.js'
import type { BlockRange, Chain, ProofLevel } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from '../ports/store-transaction.js'
import type { Clock, Random } from '../ports/world.js'
import { systemClock, systemRandom } from '../world/system.js'
import type { Difference } from './compare.js'
import { dropAll, type Recheck, recheck, recordAgain } from './recheck.js'
import { ReindexError } from './reindex-error.js'
import { takeBranch } from './take-branch.js'

/** What a reindex needs from outside. */
export interface ReindexDeps {
  readonly store: Pick<Store, 'transaction' | 'payments'>
  /** Read through the endpoint that is to be believed, with all routers of the list. */
  readonly chain: Chain
  /** Must not throw. */
  readonly publish: EventSink
  /** Blocks on top of a block until it is final, by chain, beside the table of INTERFACE 8; null: never. */
  readonly confirmations?: Confirmations | undefined
  /** Waits between tries. @default the system's */
  readonly clock?: Clock | undefined
  /** @default the system's */
  readonly random?: Random | undefined
}

/** Which blocks to read again. */
export interface ReindexRequest {
  readonly from: number
  /** Included. @default the checkpoint */
  readonly to?: number | undefined
  /** Whether to write what differs; otherwise it is only told. */
  readonly repair: boolean
}

/** What was found in a run of blocks. */
export interface ReindexReport {
  /** Both included. */
  readonly range: { readonly from: number; readonly to: number }
  /** How the blocks were proven now, and the name of the endpoint that they came from. */
  readonly proof: ProofLevel
  readonly endpoint: string
  readonly differences: readonly Difference[]
  /** Whether they were written; false when there were none. A payment keeps the integration that it named, whatever was read now. */
  readonly repaired: boolean
}

/** How often in a row the reading starts over where it is: because an indexer moved the checkpoint, or a node did not answer. */
const retries = { moved: 5, unread: 6 } as const

/**
 * Reads blocks again and compares them with what is stored; repairs, range by range and each in one transaction, through the path of
 * everything else: payments, snapshots and deliveries, proof. A payment that the chain does not have is marked as off the chain, and
 * dropped once the height is final. Blocks that are compared must be of the branch that is stored.
 *
 * After a reorganisation that was too deep to be followed, with `repair` and up to the checkpoint, the branch of `chain` is taken
 * in place of the stored one from `from` on, and the chain is followed again, also when this ends early.
 *
 * Blocks that a node does not answer for, not whole, or with a change in between, are asked for again, up to six times in a row, with a pause of up to 8 s in between: what it
 * bears is learnt from that. An indexer may run meanwhile. Payments of routers that are not listed any more, and payments from another chain, are left alone.
 * @throws RangeError When a height is not whole, or `to` is below `from` or above the checkpoint.
 * @throws ReindexError `ERR_REINDEX_REFUSED` when nothing is indexed, or the stored branch is not on the chain and cannot be replaced by
 * these blocks; the message says by which.
 * @throws ChainError, StoreError, CheckpointMovedError What was reported until then stays.
 */
export async function* reindex(
  deps: ReindexDeps,
  request: ReindexRequest,
  signal?: AbortSignal,
): AsyncGenerator<ReindexReport, void, undefined> {
  const { store, chain, publish, clock = systemClock, random = systemRandom } = deps
  const { chainId } = chain
  const { from, repair } = request
  const finalityBlocks = createFinality(deps.confirmations).confirmations(chainId)
  const checkpoint = await store.payments.checkpoint(chainId)
  if (checkpoint === null) throw new ReindexError(chainId, `Nothing of chain ${chainId} is indexed.`)
  const to = request.to ?? checkpoint.blockNumber
  checkHeights(from, to, checkpoint)
  const head = (await chain.head(signal)).number
  const ours = await isOnChain(chain, checkpoint, signal)
  if (!ours && repair) publish(await takeBranch({ store, chain }, { from, to, checkpoint, finalityBlocks }, signal))

  const input = { chainId, routers: chain.routers, unwound: !ours }
  async function handle(range: BlockRange): Promise<Recheck> {
    if (!repair) return recheck(store, { ...input, range, repair })
    const stored = await store.payments.checkpoint(chainId)
    if (stored !== null && stored.blockNumber >= range.last.number)
      return recheck(store, { ...input, unwound: false, range, repair })
    return recordAgain(store, { ...input, range, expected: stored, window: { head, finalityBlocks } })
  }

  let next = from
  const failed = { moved: 0, unread: 0 }
  while (next <= to) {
    const begun = next
    const indexed = (await store.payments.checkpoint(chainId))?.blockNumber ?? 0
    try {
      const until = repair && indexed >= next ? Math.min(to, indexed) : to
      for await (const range of chain.ranges({ from: next, to: until, head: Math.max(head, until) }, signal)) {
        signal?.throwIfAborted()
        const { differences, repaired, events } = await handle(range)
        for (const event of events) publish(event)
        next = range.last.number + 1
        const { first, last, proof, endpoint } = range
        yield { range: { from: first.number, to: last.number }, proof, endpoint, differences, repaired }
      }
      if (next === begun)
        throw new ChainError('ERR_CHAIN_UNAVAILABLE', chainId, `Blocks ${next} to ${until} were asked for, none came.`)
    } catch (thrown) {
      if (next > begun) Object.assign(failed, { moved: 0, unread: 0 })
      const why = thrown instanceof CheckpointMovedError ? 'moved' : isUnread(thrown) ? 'unread' : null
      if (signal?.aborted || why === null || failed[why] === retries[why]) throw thrown
      failed[why] += 1
      if (why === 'unread') await clock.sleep(backoffMs(failed.unread, random.fraction()), signal)
    }
  }
  if (repair) for await (const event of dropAll(store, { chainId, finalityBlocks })) publish(event)
}

/** Whether the same blocks may be had the next time. */
function isUnread(error: unknown): boolean {
  return error instanceof ChainError && error.code !== 'ERR_CHAIN_PROOF_FAILED'
}

function checkHeights(from: number, to: number, { blockNumber }: Checkpoint): void {
  assertWhole('from', from, 0)
  assertWhole('to', to, 0)
  if (from > to) throw new RangeError(`Block ${from} is above block ${to}; pass \`from\` up to \`to\`.`)
  if (to > blockNumber) throw new RangeError(`Block ${to} is not indexed yet; pass \`to\` up to ${blockNumber}.`)
}
