/** Pending deliveries that are looked up by their ids. @module */

/**
 * The condition on `status`, written so that no planner takes the index of all that is pending: without statistics PostgreSQL believes
 * that this is next to nothing, and walks a backlog of millions to find a few ids.
 */
export const isPending = (table: string): string => `coalesce(${table}.status, '') = 'pending'`

/** When a delivery may be taken next: at the end of its lease, where that is behind the time that it was due. Null where nothing is to come. */
export const nextAt = (table: string): string =>
  `case when ${table}.leased_until > ${table}.due_at then ${table}.leased_until else ${table}.due_at end`
