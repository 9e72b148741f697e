/** Compares the payments on the chain with the stored ones. Source: docs/decisions/completeness.md. @module */
import { isDeepStrictEqual } from 'node:util'
import { assignOrdinals, isOf } from '../payments/assign-ordinals.js'
import type { PaymentFacts } from '../payments/facts.js'
import type { StoredPayment } from '../payments/record.js'
import type { NewPayment } from '../ports/store-transaction.js'
import type { Difference } from './reindex-types.js'

/** The differences, and the writes that repair them. */
export interface Comparison {
  /** Payments on the chain by block and log index, then the extra ones. */
  readonly differences: readonly Difference[]
  /** Payments to store. */
  readonly wanted: readonly NewPayment[]
  /** Payments to mark as off the chain. */
  readonly extra: readonly StoredPayment[]
}

/** Input of {@link compare}. */
export interface ComparisonInput {
  /** The payments of these blocks on the chain. */
  readonly read: readonly PaymentFacts[]
  /** The stored payments of these blocks. */
  readonly stored: readonly StoredPayment[]
  /** The routers that were read, lowercased. */
  readonly routers: readonly string[]
  /** Whether the stored blocks are orphaned: then the off-chain marks of their payments say nothing. */
  readonly isOrphaned: boolean
}

const factNames = [
  'logIndex',
  'blockNumber',
  'blockHash',
  'blockTimestamp',
  'router',
  'sender',
  'receiver',
  'memoHex',
  'integrationAddress',
  'source',
  'tokenIn',
  'tokenOut',
  'pricing',
] as const satisfies readonly (keyof PaymentFacts)[]

/** Compares. Ignores payments of routers that were not read, and payments from another chain. */
export function compare({ read, stored, routers, isOrphaned }: ComparisonInput): Comparison {
  const onChain = assignOrdinals(read, stored, routers)
  const rows = new Map(stored.map((row) => [keyOf(row), row]))
  const differences: Difference[] = []
  const wanted: NewPayment[] = []
  for (const payment of onChain) {
    const { facts } = payment
    const { txHash, ordinal } = facts
    const row = rows.get(keyOf(facts))
    const fields = row === undefined ? [] : differingFields(row, facts, isOrphaned)
    if (row !== undefined && fields.length === 0 && !(isOrphaned && row.offChain)) continue
    wanted.push(payment)
    if (row === undefined) differences.push({ kind: 'missing', txHash, ordinal })
    else if (fields.length > 0) differences.push({ kind: 'changed', txHash, ordinal, fields })
  }
  const present = new Set(onChain.map(({ facts }) => keyOf(facts)))
  const listed = new Set(routers)
  const extra = stored.filter(
    (row) => !present.has(keyOf(row)) && isOf(listed, row) && (isOrphaned ? row.dropped === null : !row.offChain),
  )
  for (const { txHash, ordinal } of extra) differences.push({ kind: 'extra', txHash, ordinal })
  return { differences, wanted, extra }
}

function keyOf({ txHash, ordinal }: PaymentFacts): string {
  return `${txHash}:${ordinal}`
}

function differingFields(row: StoredPayment, facts: PaymentFacts, isOrphaned: boolean): string[] {
  const fields: string[] = factNames.filter((name) => !isDeepStrictEqual(row[name], facts[name]))
  return row.offChain && !isOrphaned ? [...fields, 'offChain'] : fields
}
