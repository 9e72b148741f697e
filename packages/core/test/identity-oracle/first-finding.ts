/** Searches many histories for the first that breaks a promise. @module */
import { type Build, type Finding, runHistory } from './history.js'

export type { Build, Finding } from './history.js'

/** The seeds that the environment asks for: `IDENTITY_SEED` one, `IDENTITY_SEEDS` so many, from 1 on. */
export function seedsAsked(count = 300, environment: NodeJS.ProcessEnv = process.env): number[] {
  const { IDENTITY_SEED: one, IDENTITY_SEEDS: many } = environment
  if (one !== undefined) return [Number(one)]
  return Array.from({ length: Number(many ?? count) }, (_, index) => index + 1)
}

/**
 * Runs the histories of the seeds, one after the other, each on a new system.
 * @example
 * const finding = await firstFinding(seedsAsked(), () => adapter())
 * expect(finding && report(finding)).toBeNull()
 */
export async function firstFinding(seeds: Iterable<number>, build: Build): Promise<Finding | null> {
  for (const seed of seeds) {
    const finding = await runHistory(seed, build)
    if (finding !== null) return finding
  }
  return null
}

/** The finding as lines for a person; the last line of the history is the step at which it shows. */
export function report({ seed, reason, lines }: Finding): string {
  return [`IDENTITY_SEED=${seed} breaks a promise:`, reason, 'The history:', ...lines].join('\n')
}
