/** The partitions of PostgreSQL: each segment has a table of its deliveries, and one of their attempts. @module */

/** The ids of a segment's deliveries: from `first` up to before `end`. */
export interface SegmentIds {
  readonly number: number
  readonly first: number
  readonly end: number
}

/** The number of ids of the first segment: enough for decades, even if no other segment begins. */
const idsOfFirst = 10 ** 12
/** The number of ids of every later segment. A public id has 15 digits, so 9,990 such segments fit. */
const idsOfOthers = 10 ** 11

/** The segment that a new database has. */
export const firstSegment: SegmentIds = { number: 0, first: 0, end: idsOfFirst }

export function getFollowingSegment({ number, first }: Omit<SegmentIds, 'end'>): SegmentIds {
  const next = number === 0 ? idsOfFirst : first + idsOfOthers
  return { number: number + 1, first: next, end: next + idsOfOthers }
}

export const listPartitions = (number: number) => [`snapshots_${number}`, `attempts_${number}`] as const

/**
 * The statements that create the tables of a segment. The complete tables are attached: creating them as partitions
 * would block all other transactions. A unique key over all partitions must contain the partition key `id`, so
 * (payment, version) is unique within a segment only.
 */
export function createPartitions(name: (table: string) => string, { number, first, end }: SegmentIds): string[] {
  const [snapshots, attempts] = listPartitions(number)
  const copy = (parent: string, table: string) =>
    `create table ${name(table)} (like ${name(parent)} including all excluding identity)`
  const attach = (parent: string, table: string) =>
    `alter table ${name(parent)} attach partition ${name(table)} for values from (${first}) to (${end})`
  return [
    copy('snapshots', snapshots),
    `create unique index ${snapshots}_version on ${name(snapshots)} (payment_id, version)`,
    copy('attempts', attempts),
    attach('snapshots', snapshots),
    attach('attempts', attempts),
  ]
}
