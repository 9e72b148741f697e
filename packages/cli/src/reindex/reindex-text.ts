/** What a reindex found, as lines for a person. @module */
import type { Difference, ReindexReport } from '@payment-integration/core'
import { grouped } from '../output/figures.js'
import { plain } from '../output/plain.js'

/** How a reindex ended. */
export interface ReindexSummary {
  readonly chainId: number
  /** Blocks that were read. */
  readonly blocks: number
  readonly differences: number
  /** Differences in ranges that were written. */
  readonly repaired: number
  readonly dryRun: boolean
}

/** One line for the range, and one for each difference with its whole hash. */
export function reindexText({ range, proof, endpoint, differences, repaired }: ReindexReport): string[] {
  const found = differences.length === 0 ? 'as stored' : `${counted(differences.length)}${repaired ? ', repaired' : ''}`
  const head = `Blocks ${grouped(range.from)} to ${grouped(range.to)}: ${found}  (proof ${proof}, ${plain(endpoint)})`
  return [head, ...differences.map((each) => `  ${differenceText(each)}`)]
}

/** The last line. */
export function summaryText({ chainId, blocks, differences, repaired, dryRun }: ReindexSummary): string[] {
  const end =
    differences === 0
      ? 'everything is as stored'
      : `${counted(differences)}, ${dryRun ? 'nothing was written' : `${grouped(repaired)} repaired`}`
  return [`Chain ${chainId}: ${grouped(blocks)} ${blocks === 1 ? 'block' : 'blocks'} read, ${end}.`]
}

const counted = (count: number) => `${grouped(count)} ${count === 1 ? 'difference' : 'differences'}`

function differenceText({ kind, txHash, ordinal, fields = [] }: Difference): string {
  const which = fields.length === 0 ? '' : `  ${fields.join(', ')}`
  return `${kind.padEnd(7)}  ${txHash}  payment ${ordinal}${which}`
}
