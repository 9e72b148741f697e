/** Decides the exit code of a demo run. @module */
import type { ExitCode } from '../io.js'
import type { SessionResult } from './session.js'

/** Why a run stopped. */
export type RunEnd =
  /** Every payment was made and followed to its final state. */
  | { readonly kind: 'idle' }
  /** The caller's signal aborted. */
  | { readonly kind: 'interrupted' }
  /** The deadline passed. */
  | { readonly kind: 'deadline'; readonly limitMs: number }
  /** A required part exited by itself. */
  | { readonly kind: 'lost'; readonly reason: string }

/**
 * The exit code and the printed reasons.
 * With `untilIdle` the run fails unless every payment is verified. Without it the run fails only when a part exited;
 * problems are still listed.
 */
export function judge(
  ending: RunEnd,
  result: SessionResult,
  untilIdle: boolean,
): { readonly exitCode: ExitCode; readonly reasons: readonly string[] } {
  const lost = ending.kind === 'lost' ? [ending.reason] : []
  if (!untilIdle) return { exitCode: ending.kind === 'lost' ? 1 : 0, reasons: [...result.problems, ...lost] }
  const early = {
    idle: [],
    interrupted: ['Interrupted before every payment was verified.'],
    deadline: [`The deadline of ${ending.kind === 'deadline' ? ending.limitMs / 1000 : 0} s passed.`],
    lost,
  }[ending.kind]
  const reasons = [...result.problems, ...early, ...result.unfinished]
  return { exitCode: reasons.length > 0 ? 1 : 0, reasons }
}
