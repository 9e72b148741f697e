/** Durations on the command line. @module */
import { InvalidArgumentError } from 'commander'

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** Longest delay that a timer of Node can hold: about 24.8 days. */
const longestMs = 2 ** 31 - 1

/**
 * Reads a duration such as `500ms`, `3s`, `10m`, `24h` or `7d`, in whole units.
 * @returns Milliseconds.
 * @throws InvalidArgumentError When the text is anything else, or longer than 24 days.
 */
export function parseDuration(text: string): number {
  const ms = durationMs(text)
  if (ms === null) throw new InvalidArgumentError('Expected a number and a unit: 500ms, 3s, 10m, 24h or 7d.')
  if (ms > longestMs) throw new InvalidArgumentError('Expected at most 24 days.')
  return ms
}

/** A duration of any length in milliseconds, or null when the text is none. */
export function durationMs(text: string): number | null {
  const [, digits = '', unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
  return digits === '' ? null : Number(digits) * unitMs[unit as keyof typeof unitMs]
}
