/** The snapshots of a payment that a page shows. @module */
import type { StoredSnapshot } from '@payment-integration/core'
import type { StoredPayment } from '@payment-integration/core/ports'
import { type Given, wholeOf } from '../filters.js'
import type { Snapshot } from './timeline.js'

/** Newest snapshots that a page reads. */
const mostSnapshots = 50

/** The versions to compare; null: the last two. */
export type Compared = readonly [number, number] | null

/** The versions in the parameters `a` and `b`. @throws FilterError For no whole number. */
export function comparedOf({ a, b }: Given): Compared {
  return a === undefined || b === undefined ? null : [wholeOf('a', a), wholeOf('b', b)]
}

/** The versions that a page shows: the newest ones, and the compared ones. */
export function shownVersions({ version: newest }: Pick<StoredPayment, 'version'>, compared: Compared): number[] {
  const recent = Array.from({ length: Math.min(newest, mostSnapshots) }, (_, n) => newest - n)
  return [...recent, ...(compared ?? []).filter((version) => version >= 1 && version <= newest)]
}

/** A snapshot as text. */
export function readSnapshot({ version, body }: StoredSnapshot): Snapshot {
  return { version, text: new TextDecoder().decode(body), bytes: body.byteLength }
}
