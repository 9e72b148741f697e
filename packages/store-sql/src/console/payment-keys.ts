/** Pages of payments across integrations: index ranges of a fixed length. Source: the port ConsoleReads. @module */
import type { ConsolePaymentFilter, ConsolePosition } from '@payment-integration/core/ports'
import { type Selectable, sql } from 'kysely'
import type { Connection } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { integer, unpack } from '../internal/values.js'
import type { PaymentRow } from '../schema/tables.js'

/** Most payments that one page examines. */
export const mostExamined = 5_000
/** Payments that one statement examines. */
const step = 500

type Filter = ConsolePaymentFilter & { readonly before?: ConsolePosition | undefined }
type Key = Pick<Selectable<PaymentRow>, 'id' | 'block_timestamp' | 'chain_id' | 'tx_hash' | 'state' | 'invoice'>

/** The ids of a page, and where the next one begins. */
export interface KeyPage {
  readonly ids: readonly number[]
  readonly next: ConsolePosition | null
  readonly isCut: boolean
}

/** Finds a page, newest first: in steps, until the limit or {@link mostExamined} is reached. */
export async function findPage(db: Connection, filter: Filter, limit: number): Promise<KeyPage> {
  const ids: number[] = []
  let { before } = filter
  const isExact = filter.chainId === undefined && filter.invoice === undefined && isIndexed(filter)
  for (let examined = 0; examined < mostExamined; ) {
    const size = isExact ? limit + 1 : step
    const keys = await keyQuery(db, { ...filter, before }, size).execute()
    examined += keys.length
    for (const key of keys) {
      if (ids.length === limit) return { ids, next: before ?? null, isCut: false }
      before = positionOf(key)
      if (matches(key, filter)) ids.push(integer(key.id))
    }
    if (keys.length < size) return { ids, next: null, isCut: false }
  }
  return { ids, next: before ?? null, isCut: true }
}

const isIndexed = ({ state, integrationAddress }: ConsolePaymentFilter) =>
  state === undefined || (isUnsettled(state) && integrationAddress === undefined)

/** Whether a state has an index of its own. */
const isUnsettled = (state: ConsolePaymentFilter['state']) =>
  state !== undefined && state !== null && state !== 'success'

/** One step: the keys after a position in the index that fits the filter best. */
export function keyQuery(db: Connection, filter: Filter, size: number) {
  const { state, integrationAddress, before, since, until } = filter
  const byState = isUnsettled(state) && integrationAddress === undefined
  return (
    db
      .selectFrom('payments')
      .select(['id', 'block_timestamp', 'chain_id', 'tx_hash', 'state', 'invoice'])
      .where(sql<boolean>`is_primary = 1`)
      // The literal shows both planners that the partial index applies.
      .$if(byState, (rows) => rows.where('state', '=', state ?? '').where(sql<boolean>`state <> 'success'`))
      .$if(typeof integrationAddress === 'string', (rows) => rows.where('integration', '=', integrationAddress ?? ''))
      .$if(integrationAddress === null, (rows) => rows.where('integration', 'is', null))
      .$if(since !== undefined, (rows) => rows.where('block_timestamp', '>=', checkInteger(since ?? 0, 'since')))
      .$if(until !== undefined, (rows) => rows.where('block_timestamp', '<', checkInteger(until ?? 0, 'until')))
      .$if(before !== undefined, (rows) =>
        rows.where(
          sql<boolean>`(block_timestamp, chain_id, tx_hash) <
            (${before?.blockTimestamp ?? 0}, ${before?.chainId ?? 0}, ${before?.txHash ?? ''})`,
        ),
      )
      .orderBy('block_timestamp', 'desc')
      .orderBy('chain_id', 'desc')
      .orderBy('tx_hash', 'desc')
      .limit(size)
  )
}

function matches(key: Key, { state, chainId, invoice }: ConsolePaymentFilter): boolean {
  if (state !== undefined && key.state !== state) return false
  if (chainId !== undefined && integer(key.chain_id) !== chainId) return false
  if (invoice === undefined) return true
  const stored = unpack<{ readonly amount: string; readonly currency: string }>(key.invoice)
  return stored?.amount === invoice.amount && (invoice.currency ?? stored.currency) === stored.currency
}

function positionOf(key: Key): ConsolePosition {
  return {
    blockTimestamp: integer(key.block_timestamp),
    chainId: integer(key.chain_id),
    txHash: key.tx_hash,
  }
}
