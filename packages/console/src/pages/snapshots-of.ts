/** Reads the snapshots of a payment. @module */
import type { StoredPayment } from '@payment-integration/core/ports'
import { type Given, wholeOf } from '../filters.js'
import type { PageDeps } from '../page-types.js'
import type { Snapshot } from './timeline.js'

/** Newest snapshots that a page reads. */
const mostSnapshots = 50

/** The versions to compare; null: the last two. */
export type Compared = readonly [number, number] | null

/** The versions in the parameters `a` and `b`. @throws FilterError For no whole number. */
export function comparedOf({ a, b }: Given): Compared {
  return a === undefined || b === undefined ? null : [wholeOf('a', a), wholeOf('b', b)]
}

/** The newest snapshots and the compared ones, oldest first. */
export async function snapshotsOf(
  { payments }: Pick<PageDeps['service']['store'], 'payments'>,
  { id, version: newest }: Pick<StoredPayment, 'id' | 'version'>,
  compared: Compared,
): Promise<Snapshot[]> {
  const recent = Array.from({ length: Math.min(newest, mostSnapshots) }, (_, n) => newest - n)
  const asked = (compared ?? []).filter((version) => version >= 1 && version <= newest)
  const versions = [...new Set([...recent, ...asked])].sort((a, b) => a - b)
  const found = await Promise.all(
    versions.map(async (version) => ({ version, body: await payments.snapshot(id, version) })),
  )
  return found.flatMap(({ version, body }) =>
    body === null ? [] : [{ version, text: new TextDecoder().decode(body), bytes: body.byteLength }],
  )
}
