/** The schema of a database in shards: each has the same tables. Source: docs/decisions/shards.md. @module */
import type { SchemaReport, SchemaStep, StoreSchema } from '@payment-integration/core/ports'
import { ofEach } from './merge.js'

/** The schema of one part, with its migration. */
export type PartSchema = StoreSchema & { migrate(report?: SchemaReport): Promise<void> }

/**
 * Migrates and checks all parts.
 * @param main - The schema that has the chains. It is migrated last, so that a complete one has complete shards.
 * @param shards - Those of the number that is configured.
 */
export function shardedSchema(main: PartSchema, shards: readonly PartSchema[]): PartSchema {
  const parts = [...shards.map((part, shard) => ({ part, name: `shard ${shard}: ` })), { part: main, name: '' }]
  const named = (steps: readonly SchemaStep[], name: string) =>
    steps.map((step) => ({ ...step, about: `${name}${step.about}` }))
  const reporting = (name: string, report: SchemaReport | undefined): SchemaReport | undefined =>
    report && ((progress) => report({ ...progress, about: `${name}${progress.about}` }))
  return {
    async migrate(report) {
      for (const { part, name } of parts) await part.migrate(reporting(name, report))
    },
    async check() {
      for (const { part } of parts) await part.check()
    },
    async plan() {
      const plans = await ofEach(parts, async ({ part, name }) => ({ name, ...(await part.plan()) }))
      return {
        expand: plans.flatMap(({ expand, name }) => named(expand, name)),
        contract: plans.flatMap(({ contract, name }) => named(contract, name)),
      }
    },
    async contract(report) {
      for (const { part, name } of parts) await part.contract(reporting(name, report))
    },
  }
}
