/** Joins proven blocks to ranges, as a chain adapter hands them over. @module */
import type { BlockRange } from '@payment-integration/core/ports'
import type { FeedBlock } from './feed-message.js'

/** Payments after which a range ends: one transaction of the store commits it. */
const mostPayments = 500

/**
 * Joins consecutive blocks of the same proof and node.
 * @param wanted - Only payments of these routers.
 */
export function joinBlocks(blocks: readonly FeedBlock[], wanted: ReadonlySet<string>): BlockRange[] {
  const ranges: BlockRange[] = []
  let group: FeedBlock[] = []
  let payments = 0
  for (const block of blocks) {
    const [first] = group
    const isSame = first === undefined || (first.proof === block.proof && first.endpoint === block.endpoint)
    if (!isSame || payments >= mostPayments) {
      ranges.push(...rangeOf(group, wanted))
      group = []
      payments = 0
    }
    group.push(block)
    payments += block.payments.length + block.deposits.length
  }
  ranges.push(...rangeOf(group, wanted))
  return ranges
}

function rangeOf(group: readonly FeedBlock[], wanted: ReadonlySet<string>): BlockRange[] {
  const [first, last] = [group[0], group.at(-1)]
  if (first === undefined || last === undefined) return []
  return [
    {
      first: first.block,
      last: last.block,
      blocks: group.map(({ block }) => block),
      payments: group.flatMap(({ payments }) => payments).filter(({ router }) => wanted.has(router.address)),
      deposits: group.flatMap(({ deposits }) => deposits).filter(({ payment }) => wanted.has(payment.router.address)),
      proof: first.proof,
      endpoint: `feed of ${first.endpoint}`,
    },
  ]
}
