/** Pending deliveries that are looked up by their ids. @module */

/**
 * The condition on `status`, written so that no planner takes the index of all that is pending: without statistics PostgreSQL believes
 * that this is next to nothing, and walks a backlog of millions to find a few ids.
 */
export const isPending = (table: string): string => `coalesce(${table}.status, '') = 'pending'`
