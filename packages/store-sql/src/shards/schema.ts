/** The schema of a database in shards: each has the same tables. Source: docs/decisions/shards.md. @module */
import type { SchemaReport, SchemaStep, StoreSchema } from '@payment-integration/core/ports'
import type { Engine } from '../engine.js'
import { ofEach } from './merge.js'

/** The schema of one part, with its migration. */
export type PartSchema = StoreSchema & { migrate(report?: SchemaReport): Promise<void> }

/**
 * Migrates and checks all parts.
 * @param main - The schema that has the chains. It is migrated last, so that a complete one has complete shards.
 * @param shards - Those of the number that is configured.
 */
export function shardedSchema(
  { check, exclusively }: Pick<Engine, 'check' | 'exclusively'>,
  main: PartSchema,
  shards: readonly PartSchema[],
): PartSchema {
  const named = shards.map((part, shard) => ({ part, name: `shard ${shard}: ` }))
  const all = [...named, { part: main, name: '' }]
  const stepsOf = (steps: readonly SchemaStep[], name: string) =>
    steps.map((step) => ({ ...step, about: `${name}${step.about}` }))
  const reporting = (name: string, report: SchemaReport | undefined): SchemaReport | undefined =>
    report && ((progress) => report({ ...progress, about: `${name}${progress.about}` }))
  return {
    async migrate(report) {
      await check?.()
      const plans = await ofEach(shards, (part) => part.plan())
      // Processes with different numbers must not migrate at the same time: neither would find the other's shards.
      if (plans.some(({ expand }) => expand.length > 0))
        await exclusively(async () => {
          await check?.()
          for (const { part, name } of named) await part.migrate(reporting(name, report))
        })
      await main.migrate(report)
    },
    async check() {
      await main.check()
      for (const part of shards) await part.check()
    },
    async plan() {
      const plans = await ofEach(all, async ({ part, name }) => ({ name, ...(await part.plan()) }))
      return {
        expand: plans.flatMap(({ expand, name }) => stepsOf(expand, name)),
        contract: plans.flatMap(({ contract, name }) => stepsOf(contract, name)),
      }
    },
    async contract(report) {
      await check?.()
      for (const { part, name } of all) await part.contract(reporting(name, report))
    },
  }
}
