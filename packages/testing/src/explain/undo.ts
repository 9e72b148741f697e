/** Searches the values from which a damaged one may have come, by undoing one change after another. @module */
import type { Fault } from './finding.js'

/** A value, and the changes that were undone to reach it. */
export interface Candidate<T> {
  readonly value: T
  readonly faults: readonly Fault[]
}

/** Undoes one kind of change. Returns nothing when the value shows no trace of it. */
export type Undo<T> = (
  value: T,
) => readonly (Fault & { readonly value: T })[] | Promise<readonly (Fault & { readonly value: T })[]>

/** Limits of a search. */
export interface SearchLimits {
  /** Most changes in a row. */
  readonly depth: number
  /** Most candidates. */
  readonly count: number
}

/**
 * The value itself and every distinct value that undoing changes gives, the fewest changes first.
 * @param idOf - Equal for equal values.
 */
export async function candidatesOf<T>(
  value: T,
  undos: readonly Undo<T>[],
  idOf: (value: T) => string,
  { depth, count }: SearchLimits,
): Promise<Candidate<T>[]> {
  const found: Candidate<T>[] = [{ value, faults: [] }]
  const known = new Set([idOf(value)])
  for (const candidate of found) {
    if (candidate.faults.length >= depth) break
    for (const undo of undos)
      for (const { value: next, ...fault } of await undo(candidate.value)) {
        if (found.length >= count) return found
        const id = idOf(next)
        if (known.has(id)) continue
        known.add(id)
        found.push({ value: next, faults: [...candidate.faults, fault] })
      }
  }
  return found
}
