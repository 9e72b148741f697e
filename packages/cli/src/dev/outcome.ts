/** Decides how a demo run counts. @module */
import type { ExitCode } from '../io.js'
import type { SessionResult } from './session.js'

/** Why a run ended. */
export type Ending =
  /** Every payment was made and followed to its end. */
  | { readonly kind: 'idle' }
  /** The caller asked for it. */
  | { readonly kind: 'interrupted' }
  /** The time was up. */
  | { readonly kind: 'deadline'; readonly limitMs: number }
  /** A part that the run stands on ended by itself. */
  | { readonly kind: 'lost'; readonly reason: string }

/**
 * The exit code and the reasons to print with it.
 * With `untilIdle` everything short of every payment verified is a failure; without it, only a lost part is, and what went
 * wrong on the way is still listed.
 */
export function judge(
  ending: Ending,
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
