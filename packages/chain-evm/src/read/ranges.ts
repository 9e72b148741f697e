/** Reads consecutive ranges of blocks, several in parallel. @module */
import { setMaxListeners } from 'node:events'
import type { BlockRange, BlockRef, ProofLevel, RangesRequest } from '@payment-integration/core/ports'
import { isRateLimit, isUnavailable, isUnproven } from '../rpc/failures.js'
import type { Nodes } from '../rpc/nodes.js'
import { readUnproven } from './logs.js'
import { maxTransactions, readByBloom, readByRoot } from './proven-ranges.js'
import type { RangeReader } from './range-reader.js'
import type { RangeKind, RangeSizing } from './range-sizing.js'

interface RangesSource {
  readonly nodes: Nodes
  readonly context: Omit<RangeReader, 'node' | 'signal' | 'from' | 'to'>
  /** Near the head, `bloom` becomes `root`. */
  readonly proof: ProofLevel
  /** The number of newest blocks that count as near the head. */
  readonly nearHead: number
  /** Shared by all calls, so that each begins with the sizes that earlier ones learned. */
  readonly sizing: RangeSizing
}

interface PlannedRange {
  readonly from: number
  readonly to: number
  /** Null until the read has started. */
  readonly reading: Promise<BlockRange> | null
}

/**
 * Yields consecutive ranges from `from` to `to`, and checks that each continues the one before.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE`, `ERR_CHAIN_PROOF_FAILED`; the signal's own reason.
 */
export async function* readRanges(
  source: RangesSource,
  { from, to, head }: RangesRequest,
  signal?: AbortSignal,
): AsyncGenerator<BlockRange, void, undefined> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  // Every request of every range that is read ahead adds a listener.
  setMaxListeners(0, controller.signal)
  const relay = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', relay, { once: true })
  const queue: PlannedRange[] = [{ from, to, reading: null }]
  const nearFrom = Math.max(head, to) - source.nearHead + 1
  let previous: BlockRef | undefined
  try {
    for (;;) {
      startReading(source, queue, nearFrom, controller.signal)
      const planned = queue.shift()
      if (planned?.reading === null || planned?.reading === undefined) return
      const range = await planned.reading
      if (range.last.number < planned.to) queue.unshift({ from: range.last.number + 1, to: planned.to, reading: null })
      if (previous !== undefined && range.first.parentHash !== previous.hash)
        throw source.context.fail.noBlock(`block ${range.first.number} does not follow block ${previous.number}.`)
      previous = range.last
      startReading(source, queue, nearFrom, controller.signal)
      yield range
    }
  } finally {
    signal?.removeEventListener('abort', relay)
    controller.abort()
  }
}

/** Cuts the first ranges of the queue to size and starts to read them; always at least the first. */
function startReading(source: RangesSource, queue: PlannedRange[], nearFrom: number, signal: AbortSignal): void {
  const { proof, sizing } = source
  let started = queue.filter(({ reading }) => reading !== null).length
  for (let index = 0; index < queue.length && (index === 0 || started < sizing.parallelRanges()); index++) {
    const planned = queue[index]
    if (planned === undefined || planned.reading !== null) continue
    const isNearHead = proof === 'bloom' && planned.from >= nearFrom
    // At proof level `none`, ranges have the sizes of `bloom`.
    const kind = proof === 'root' || isNearHead ? 'root' : 'bloom'
    const limit = proof === 'bloom' && !isNearHead ? nearFrom - 1 : planned.to
    const end = Math.min(planned.to, limit, planned.from + sizing.maxBlocks(kind) - 1)
    const reading = readPlannedRange(source, planned.from, end, kind, signal)
    // The consumer may stop before it awaits this promise.
    reading.catch(() => {})
    const remainder = end < planned.to ? [{ from: end + 1, to: planned.to, reading: null }] : []
    queue.splice(index, 1, { from: planned.from, to: end, reading }, ...remainder)
    started++
  }
}

async function readPlannedRange(source: RangesSource, from: number, to: number, kind: RangeKind, signal: AbortSignal) {
  const { context, nodes, sizing } = source
  const requested = to - from + 1
  return nodes.runPinned(async (node) => {
    try {
      const { range, ...counts } = await readByKind(source, { ...context, node, signal, from, to }, kind)
      const returned = range.last.number - from + 1
      node.note({ kind: 'blocks-read', blocks: returned })
      const fillFraction = counts.transactions / maxTransactions
      sizing.noteResult(kind, { node: node.name, requested, returned, fillFraction, ...counts, ...node.traffic() })
      return range
    } catch (error) {
      if (!signal.aborted && (isUnavailable(error) || (isUnproven(error) && node.isAlone()))) {
        if (isRateLimit(error)) sizing.noteRateLimit(node.name)
        else sizing.noteFailure(kind, requested, node.name)
      }
      throw error
    }
  }, signal)
}

async function readByKind({ proof, sizing }: RangesSource, reader: RangeReader, kind: RangeKind) {
  if (kind === 'root') return readByRoot(reader, sizing.plan().withTransactions === 'all')
  if (proof === 'bloom') return readByBloom(reader, sizing.plan())
  const range = await readUnproven(reader)
  return { range, candidates: 0, wholeBlocks: 0, transactions: range.payments.length }
}
