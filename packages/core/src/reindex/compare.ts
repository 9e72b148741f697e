/** What differs between the payments of the chain and those that are stored. Source: issue 4, point 9. @module */
import { isDeepStrictEqual } from 'node:util'
import type { PaymentFacts } from '../payments/facts.js'
import { isOf, placeBeside } from '../payments/place-beside.js'
import type { StoredPayment } from '../payments/record.js'
import type { NewPayment } from '../ports/store-transaction.js'

/** A payment that is not stored as the chain has it. */
export interface Difference {
  /**
   * `missing`: not stored in these blocks. `extra`: stored, and not on the chain there. `changed`: stored with other facts, or as a
   * payment that left the chain.
   */
  readonly kind: 'missing' | 'extra' | 'changed'
  /** Lowercased. */
  readonly txHash: string
  /** The record's position among the payments of its transaction. */
  readonly ordinal: number
  /** For `changed`: names of what differs, such as `blockHash`; `offChain` when it was taken for gone. */
  readonly fields?: readonly string[]
}

/** The differences, and what removes them. */
export interface Comparison {
  /** By block and log index as far as the chain has them, then those that it has not. */
  readonly differences: readonly Difference[]
  /** To be stored. */
  readonly wanted: readonly NewPayment[]
  /** To be marked as off the chain. */
  readonly extra: readonly StoredPayment[]
}

/** What to compare. */
export interface ComparisonInput {
  /** What the chain has of these blocks. */
  readonly read: readonly PaymentFacts[]
  /** All that is stored of them. */
  readonly stored: readonly StoredPayment[]
  /** The routers that were read, lowercased. */
  readonly routers: readonly string[]
  /** True while what is stored of these blocks is marked as off the chain, whether it is or not. */
  readonly unwound: boolean
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

/** Compares. Payments of routers that were not read, and those that were paid from another chain, are left alone. */
export function compare({ read, stored, routers, unwound }: ComparisonInput): Comparison {
  const placed = placeBeside(read, stored, routers)
  const rows = new Map(stored.map((row) => [keyOf(row), row]))
  const differences: Difference[] = []
  const wanted: NewPayment[] = []
  for (const payment of placed) {
    const { facts } = payment
    const { txHash, ordinal } = facts
    const row = rows.get(keyOf(facts))
    const fields = row === undefined ? [] : differingFields(row, facts, unwound)
    if (row !== undefined && fields.length === 0 && !(unwound && row.offChain)) continue
    wanted.push(payment)
    if (row === undefined) differences.push({ kind: 'missing', txHash, ordinal })
    else if (fields.length > 0) differences.push({ kind: 'changed', txHash, ordinal, fields })
  }
  const present = new Set(placed.map(({ facts }) => keyOf(facts)))
  const listed = new Set(routers)
  const extra = stored.filter(
    (row) => !present.has(keyOf(row)) && isOf(listed, row) && (unwound ? row.dropped === null : !row.offChain),
  )
  for (const { txHash, ordinal } of extra) differences.push({ kind: 'extra', txHash, ordinal })
  return { differences, wanted, extra }
}

function keyOf({ txHash, ordinal }: PaymentFacts): string {
  return `${txHash}:${ordinal}`
}

function differingFields(row: StoredPayment, facts: PaymentFacts, unwound: boolean): string[] {
  const fields: string[] = factNames.filter((name) => !isDeepStrictEqual(row[name], facts[name]))
  return row.offChain && !unwound ? [...fields, 'offChain'] : fields
}
