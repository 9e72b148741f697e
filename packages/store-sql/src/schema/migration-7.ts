/** Migration 7: due deliveries by lane and endpoint, so that a claim goes from one endpoint to the next. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 7.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration7(_types: ColumnTypes, name: (table: string) => string): string[] {
  const deliveries = name('deliveries')
  return [
    `drop index ${name('deliveries_due')}`,
    // Retries of replays queue with the other retries.
    `update ${deliveries} set lane = 1 where status = 'pending' and lane = 2 and attempted > schedule_from`,
    `create index deliveries_due on ${deliveries} (lane, integration, due_at, id) where status = 'pending'`,
    `create index endpoints_blocked on ${name('endpoints')} (blocked_until) where blocks > 0`,
  ]
}
