/** Reads indexed blocks again, reports differences, repairs them. Source: docs/decisions/completeness.md. @module */
import { isDeepStrictEqual } from 'node:util'
import { ChainError, CheckpointChangedError, CodedError } from '../errors.js'
import type { EventSink, ServiceEvent } from '../events.js'
import type { Audited } from '../history/audit-log.js'
import { assertWhole, computeBackoffMs } from '../internal/values.js'
import { type Confirmations, createFinality } from '../legacy/finality.js'
import { dropOverdue } from '../payments/change-status.js'
import type { PaymentFacts, StoredPayment } from '../payments/payment.js'
import type { NewPayment } from '../payments/payment-store.js'
import { assertKnownHashes, type RangeToRecord, selectStoredHashes, toCheckpoint } from '../payments/record-range.js'
import { chooseRecorded, type Recording } from '../payments/recording.js'
import { isReadBy, matchOrdinals, storePayments, toOrdinalKey } from '../payments/store-payments.js'
import type { Chain, ProofLevel } from '../ports/chain.js'
import { type Clock, type RandomSource, systemClock, systemRandom } from '../ports/runtime.js'
import type { Store, StoreTransaction } from '../ports/store.js'
import type { Checkpoint } from './chain-store.js'
import { createCheckedChain } from './checked-chain.js'
import { createUnexpectedBlocksError } from './follower.js'
import { isOnChain, type ReorganizeDeps, rollBack } from './reorganize.js'

/** The operator's command on followed chains. */
export type ChainCommands = ReturnType<typeof createChainCommands>

/** Which blocks to read again. */
export interface ReindexRequest {
  readonly from: number
  /** Included. @default the checkpoint */
  readonly to?: number | undefined
  /** Whether to write the differences; otherwise they are only reported. */
  readonly repair: boolean
}

/** The first and the last block; both are included. */
type BlockSpan = { readonly from: number; readonly to: number }

/** The result of reading indexed blocks again. */
export interface ReindexReport {
  readonly range: BlockSpan
  /** Proof level of this read, and the name of the node that it came from. */
  readonly proof: ProofLevel
  readonly node: string
  readonly differences: readonly ReindexDifference[]
  /** Whether the differences were written; false without any. The integration of a stored payment never changes. */
  readonly repaired: boolean
}

/** These blocks cannot be reindexed; the message says which blocks can. Nothing was written. */
export class ReindexError extends CodedError<'ERR_REINDEX_REJECTED'> {
  override readonly name = 'ReindexError'
  readonly chainId: number
  constructor(chainId: number, message: string) {
    super('ERR_REINDEX_REJECTED', message)
    this.chainId = chainId
  }
}

/**
 * Moves the orphaned `checkpoint` to the block below `from`, however deep, and marks the payments above as off the
 * chain, until new blocks contain them. An indexer may continue from there at any time.
 */
async function rollBackOrphaned(
  deps: ReorganizeDeps,
  { from, to }: BlockSpan,
  checkpoint: Checkpoint,
  signal?: AbortSignal,
): Promise<ServiceEvent> {
  const { store, chain } = deps
  const { chainId } = chain
  const { blockNumber } = checkpoint
  const reject = (message: string) => {
    throw new ReindexError(chainId, message)
  }
  if (to !== blockNumber)
    reject(
      `Block ${blockNumber}, up to which chain ${chainId} is indexed, is not on the chain that the node shows; ` +
        'read up to it, so that no orphaned block is left.',
    )
  const base = from === 0 ? null : await chain.block(from - 1, signal)
  if (base === null)
    return reject(`The node of chain ${chainId} shows no block below ${from}; begin higher, or ask another node.`)
  const [newest] = await store.transaction((tx) => tx.checkpoints(chainId, from - 1, 1))
  if (newest === undefined)
    return reject(
      `No block below ${from} of chain ${chainId} is stored, so nothing shows that the node follows the same chain; begin higher.`,
    )
  if (!(await isOnChain(chain, newest, signal)))
    reject(
      `Block ${newest.blockNumber} of chain ${chainId}, which is indexed, is not on the chain that the node shows either; ` +
        `begin at ${newest.blockNumber} or below.`,
    )
  if (await isOnChain(chain, checkpoint, signal))
    throw new ChainError(
      'ERR_CHAIN_UNAVAILABLE',
      chainId,
      `The node of chain ${chainId} answered two hashes for block ${blockNumber}; run the command again, or with another node.`,
    )
  signal?.throwIfAborted()
  await rollBack(deps, checkpoint, toCheckpoint(base))
  return { type: 'chain.reorganized', chainId, from: blockNumber, commonAncestor: base.number }
}

interface ReindexDeps {
  readonly store: Pick<Store, 'transaction' | 'payments'>
  readonly chain: Chain
  /** Must not throw. */
  readonly publish: EventSink
  /** Confirmations until a block is final, by chain, overriding docs/interface.md 8; null: never. */
  readonly confirmations?: Confirmations | undefined
  /** Which payments are compared and stored. @default 'all' */
  readonly recording?: Recording | undefined
  /** Called once, before a repair writes anything; a rejection ends the reindex. @default none */
  readonly beforeRepair?: ((range: BlockSpan) => Promise<void>) | undefined
  /** Waits between retries. @default the system's */
  readonly clock?: Clock | undefined
  /** @default the system's */
  readonly random?: RandomSource | undefined
}

/** The most retries in a row without progress, after an indexer moved the checkpoint and after a failed read. */
const maxRetries = { moved: 5, unread: 6 } as const

/**
 * Runs {@link ChainCommands} `reindex` without the audit log. An extra payment is marked as off the chain, and dropped
 * once its height is final. After a reorg too deep to follow, `repair` up to the checkpoint replaces the stored blocks
 * from `from` on. Failed reads are retried up to six times in a row.
 */
export async function* reindex(
  deps: ReindexDeps,
  request: ReindexRequest,
  signal?: AbortSignal,
): AsyncGenerator<ReindexReport, void, undefined> {
  const { store, publish, recording = 'all', clock = systemClock, random = systemRandom } = deps
  const chain = createCheckedChain(deps.chain)
  const { chainId } = chain
  const { from, repair } = request
  assertWhole('from', from, 0)
  const finalityBlocks = createFinality(deps.confirmations).confirmations(chainId)
  const checkpoint = await store.payments.checkpoint(chainId)
  if (checkpoint === null) throw new ReindexError(chainId, `Nothing of chain ${chainId} is indexed.`)
  const { blockNumber } = checkpoint
  const to = request.to ?? blockNumber
  assertWhole('to', to, 0)
  if (from > to) throw new RangeError(`Block ${from} is above block ${to}; pass \`from\` up to \`to\`.`)
  if (to > blockNumber) throw new RangeError(`Block ${to} is not indexed yet; pass \`to\` up to ${blockNumber}.`)
  const head = (await chain.head(signal)).number
  const isOrphaned = !(await isOnChain(chain, checkpoint, signal))
  if (repair) await deps.beforeRepair?.({ from, to })
  if (isOrphaned && repair)
    publish(await rollBackOrphaned({ store, chain, finalityBlocks }, { from, to }, checkpoint, signal))

  const input = { chainId, routers: chain.routers, isOrphaned, recording, repair, head, finalityBlocks }
  let next = from
  const failures = { moved: 0, unread: 0 }
  while (next <= to) {
    const rangeStart = next
    const indexedTo = (await store.payments.checkpoint(chainId))?.blockNumber ?? 0
    try {
      const until = repair && indexedTo >= next ? Math.min(to, indexedTo) : to
      for await (const range of chain.ranges({ from: next, to: until, head: Math.max(head, until) }, signal)) {
        signal?.throwIfAborted()
        const { events, ...result } = await recheck(store, { ...input, range })
        events.forEach(publish)
        const { first, last, proof, node } = range
        next = last.number + 1
        Object.assign(failures, { moved: 0, unread: 0 })
        yield { range: { from: first.number, to: last.number }, proof, node, ...result }
      }
      if (next === rangeStart) throw createUnexpectedBlocksError(chainId, next, until, 'none')
    } catch (thrown) {
      const isFailedRead = thrown instanceof ChainError && thrown.code !== 'ERR_CHAIN_PROOF_FAILED'
      const cause = thrown instanceof CheckpointChangedError ? 'moved' : isFailedRead ? 'unread' : null
      if (signal?.aborted || cause === null || failures[cause] === maxRetries[cause]) throw thrown
      failures[cause] += 1
      if (cause === 'unread') await clock.sleep(computeBackoffMs(failures.unread, random.fraction()), signal)
    }
  }
  if (repair) for await (const event of dropAllOverdue(store, { chainId, finalityBlocks })) publish(event)
}

/** `through`: the adapter to read through, such as one for another node. @default that of the followed chain */
type ChosenChain = { readonly chainId: number; readonly through?: Chain | undefined }

interface ChainCommandDeps extends Omit<ReindexDeps, 'chain' | 'beforeRepair'> {
  readonly chains: readonly Chain[]
  readonly audited: Audited
}

export function createChainCommands({ chains, audited, ...deps }: ChainCommandDeps) {
  return {
    /**
     * Reads blocks of a followed chain again and yields the result of each range; with `repair` it writes the
     * differences. A repair is recorded in the audit log before it writes anything. The indexer may run meanwhile.
     * @throws RangeError When a height is not whole, or `to` is below `from` or above the checkpoint.
     * @throws ReindexError `ERR_REINDEX_REJECTED` when this process does not follow the chain, nothing of it is
     * indexed, or these blocks cannot replace an orphaned checkpoint; the message says which blocks can.
     * @throws ChainError, StoreError, CheckpointChangedError Ranges that were repaired before the error stay repaired.
     */
    async *reindex(request: ReindexRequest & ChosenChain, signal?: AbortSignal) {
      const { chainId, through } = request
      const chain = (through === undefined ? chains : [through]).find((each) => each.chainId === chainId)
      if (chain === undefined) throw new ReindexError(chainId, `Chain ${chainId} is not followed by this process.`)
      const beforeRepair = (details: BlockSpan) =>
        audited(async (_tx, note) => note({ action: 'chain.repair_started', subject: String(chainId), details }))
      yield* reindex({ ...deps, chain, beforeRepair }, request, signal)
    },
  }
}

/** A payment whose stored record differs from the chain. */
export interface ReindexDifference {
  /** `missing`: not stored. `extra`: not on the chain. `changed`: stored with other facts, or as off the chain. */
  readonly kind: 'missing' | 'extra' | 'changed'
  /** Lowercased. */
  readonly txHash: string
  /** Position of the payment in its transaction. */
  readonly ordinal: number
  /** For `changed`: the differing fields, such as `blockHash`; `offChain` for a payment marked as off the chain. */
  readonly fields?: readonly string[]
}

/** The fields of a stored payment that differ from the chain. An adapter's facts may have further fields. */
function findDifferingFields(row: StoredPayment, facts: PaymentFacts, isOrphaned: boolean): string[] {
  const names = Object.keys(facts) as (keyof PaymentFacts)[]
  const fields: string[] = names.filter((name) => name in row && !isDeepStrictEqual(row[name], facts[name]))
  return row.offChain && !isOrphaned ? [...fields, 'offChain'] : fields
}

interface RereadRange extends Omit<RangeToRecord, 'expected'> {
  readonly routers: readonly string[]
  /** Whether the stored blocks are orphaned: their off-chain marks then say nothing. */
  readonly isOrphaned: boolean
  readonly repair: boolean
}

/**
 * Compares blocks, and with `repair` stores the differences and the proof. Blocks above the checkpoint, as after a
 * rollback, must continue it, and move it up. Nothing is written when the checkpoint is inside the range, or the range
 * contradicts the stored hashes.
 */
async function recheck(store: Pick<Store, 'transaction'>, input: RereadRange) {
  const { chainId, range, repair } = input
  const { first, last, proof, node } = range
  return store.transaction(async (tx) => {
    const stored = await tx.lockChain(chainId)
    const isAbove = stored === null || stored.blockNumber < last.number
    // After the rollback of a repair, blocks up to the checkpoint are indexed again, so they are not orphaned.
    const compared = await compareRange(tx, { ...input, isOrphaned: input.isOrphaned && (isAbove || !repair) })
    const { differences } = compared
    if (!repair) return { differences, repaired: false, events: [] }
    if (isAbove && stored?.blockNumber !== first.number - 1) throw new CheckpointChangedError(chainId)
    // The checkpoint is among the stored hashes, so this also compares its hash with the parent of the first block.
    // Overdue payments are dropped after the last range.
    await assertKnownHashes(tx, chainId, range)
    const events = await storePayments(tx, compared.paymentsToStore)
    await tx.markOffChain(compared.extra.map(({ id }) => id))
    await tx.upsertDeposits(compared.deposits)
    if (isAbove) await tx.setCheckpoint(chainId, toCheckpoint(last), selectStoredHashes(input))
    await tx.addProof(chainId, { from: first.number, to: last.number, proof, node })
    return { differences, repaired: differences.some(isWritable), events: [...events, ...compared.skipped] }
  })
}

/** Drops all payments off the chain whose height is final, in parts. Yields the events to publish. */
export async function* dropAllOverdue(
  store: Pick<Store, 'transaction'>,
  chain: { readonly chainId: number; readonly finalityBlocks: number | null },
): AsyncGenerator<ServiceEvent, void, undefined> {
  for (let hasMore = true; hasMore; ) {
    const dropped = await store.transaction(async (tx) => {
      const indexedTo = (await tx.lockChain(chain.chainId))?.blockNumber ?? 0
      return dropOverdue(tx, { ...chain, indexedTo })
    })
    hasMore = dropped.hasMore
    yield* dropped.events
  }
}

/**
 * Compares the payments that this service records. Payments of routers that were not read, and payments from another
 * chain, are not compared. `skipped`: the event that counts the payments and deposits that are not recorded here.
 */
async function compareRange(tx: StoreTransaction, { chainId, range, routers, isOrphaned, recording }: RereadRange) {
  const stored = await tx.paymentsInBlocks(chainId, range.first.number, range.last.number)
  const { payments, deposits, events: skipped } = await chooseRecorded(tx, recording, { ...range, chainId }, stored)
  const onChain = matchOrdinals(payments, stored, routers)
  const rows = new Map(stored.map((row) => [toOrdinalKey(row), row]))
  const differences: ReindexDifference[] = []
  const paymentsToStore: NewPayment[] = []
  for (const payment of onChain) {
    const { facts } = payment
    const { txHash, ordinal } = facts
    const row = rows.get(toOrdinalKey(facts))
    const fields = row === undefined ? [] : findDifferingFields(row, facts, isOrphaned)
    if (row !== undefined && fields.length === 0 && !(isOrphaned && row.offChain)) continue
    paymentsToStore.push(payment)
    if (row === undefined) differences.push({ kind: 'missing', txHash, ordinal })
    else if (fields.length > 0) differences.push({ kind: 'changed', txHash, ordinal, fields })
  }
  const present = new Set(onChain.map(({ facts }) => toOrdinalKey(facts)))
  const listed = new Set(routers)
  const extra = stored
    .filter((row) => !present.has(toOrdinalKey(row)) && isReadBy(listed, row))
    .filter(({ dropped, offChain }) => (isOrphaned ? dropped === null : !offChain))
  for (const { txHash, ordinal } of extra) differences.push({ kind: 'extra', txHash, ordinal })
  return { differences, paymentsToStore, extra, deposits, skipped }
}

function isWritable({ kind, fields = [] }: ReindexDifference): boolean {
  return kind !== 'changed' || fields.some((name) => name !== 'integrationAddress')
}
