/** Checks blocks and ranges of blocks that a chain adapter hands over. @module */
import type { BlockRange, BlockRef } from '../ports/chain.js'
import { type Flaw, firstFlaw, flawOf, listFlaw, objectFlaw, shapeFlaw, wholeFlaw } from './field-flaws.js'
import { depositFlaw, paymentFlaw } from './payment-flaws.js'

const proofs: readonly unknown[] = ['root', 'bloom', 'none']

/** A block. */
export function blockFlaw(place: string, block: BlockRef): Flaw {
  return firstFlaw(
    () => wholeFlaw(`${place}.number`, block?.number),
    () => shapeFlaw(`${place}.hash`, block.hash, 'hash'),
    () => shapeFlaw(`${place}.parentHash`, block.parentHash, 'hash'),
    () => wholeFlaw(`${place}.timestamp`, block.timestamp),
  )
}

/**
 * The first flaw of a range that an adapter hands over, or null. Its blocks are one branch, and its payments stand in
 * these blocks, in the order of the chain.
 */
export function rangeFlaw(range: BlockRange, chainId: number): string | null {
  return firstFlaw(
    () => objectFlaw('the range', range),
    () => blockFlaw('first', range.first),
    () => blockFlaw('last', range.last),
    () => (proofs.includes(range.proof) ? null : flawOf('proof', range.proof, '"root", "bloom" or "none"')),
    () => (typeof range.endpoint === 'string' ? null : flawOf('endpoint', range.endpoint, 'a text')),
    () => branchFlaw(range),
    () => listFlaw('payments', range.payments, (place, payment) => paymentFlaw(place, payment, chainId)),
    () => listFlaw('deposits', range.deposits, (place, deposit) => depositFlaw(place, deposit, chainId)),
    () => orderFlaw('payments', range, range.payments),
    () =>
      orderFlaw(
        'deposits',
        range,
        range.deposits.map(({ payment }) => payment),
      ),
  )
}

function branchFlaw({ first, last, blocks, proof }: BlockRange): Flaw {
  const flaw = listFlaw('blocks', blocks, blockFlaw)
  if (flaw !== null) return flaw
  if (blocks[0]?.hash !== first.hash)
    return flawOf('blocks[0].hash', blocks[0]?.hash, `the hash of first, ${first.hash}`)
  if (blocks.at(-1)?.hash !== last.hash) return `the last of blocks is not the block last, ${last.hash}`
  for (const [index, block] of blocks.entries()) {
    const before = blocks[index - 1]
    if (before === undefined) continue
    const place = `blocks[${index}]`
    if (block.number <= before.number) return flawOf(`${place}.number`, block.number, `above ${before.number}`)
    const isNext = block.number === before.number + 1
    if (isNext && block.parentHash !== before.hash)
      return flawOf(`${place}.parentHash`, block.parentHash, `the hash of the block before, ${before.hash}`)
    if (!isNext && proof !== 'none') return flawOf(`${place}.number`, block.number, `${before.number + 1}, as proven`)
  }
  return null
}

type Placed = BlockRange['payments'][number]

/**
 * Blocks rise, and within a transaction log indexes and ordinals do. Some chains count log indexes per transaction, so
 * two transactions of a block may have the same.
 */
function orderFlaw(list: string, { first, last, blocks }: BlockRange, placed: readonly Placed[]): Flaw {
  const known = new Map(blocks.map((block) => [block.number, block]))
  const earlierOfHash = new Map<string, Placed>()
  for (const [index, each] of placed.entries()) {
    const [place, before] = [`${list}[${index}]`, placed[index - 1]]
    const { blockNumber, logIndex, ordinal, txHash } = each
    if (blockNumber < first.number || blockNumber > last.number)
      return flawOf(`${place}.blockNumber`, blockNumber, `${first.number} to ${last.number}`)
    const block = known.get(blockNumber)
    if (block !== undefined && block.hash !== each.blockHash)
      return flawOf(`${place}.blockHash`, each.blockHash, `that of its block, ${block.hash}`)
    if (block !== undefined && block.timestamp !== each.blockTimestamp)
      return flawOf(`${place}.blockTimestamp`, each.blockTimestamp, `that of its block, ${block.timestamp}`)
    const earlier = earlierOfHash.get(txHash)
    if ((before?.blockNumber ?? 0) > blockNumber || (earlier?.logIndex ?? -1) >= logIndex)
      return `${place} does not come after the one before it, by block and log index`
    if (earlier !== undefined && ordinal <= earlier.ordinal)
      return flawOf(
        `${place}.ordinal`,
        ordinal,
        `above ${earlier.ordinal}, as of an earlier payment of its transaction`,
      )
    earlierOfHash.set(txHash, each)
  }
  return null
}

/** The fate of a transaction. */
export function fateFlaw(fate: { readonly fate: unknown; readonly blockNumber: unknown } | null): Flaw {
  return firstFlaw(
    () =>
      ['succeeded', 'reverted', 'unknown'].includes(String(fate?.fate))
        ? null
        : flawOf('fate', fate?.fate, '"succeeded", "reverted" or "unknown"'),
    () => (fate?.blockNumber === null ? null : wholeFlaw('blockNumber', fate?.blockNumber)),
  )
}
