/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** How long an earlier secret stays valid: the choices of the forms. @module */
import { FilterError } from '../filters.js'

const hourMs = 3_600_000

const choices = [
  [0, 'ends at once'],
  [hourMs, 'works for 1 hour more'],
  [24 * hourMs, 'works for 1 day more'],
  [7 * 24 * hourMs, 'works for 7 days more'],
  [30 * 24 * hourMs, 'works for 30 days more'],
] as const

/** The field `grace`; a day is chosen at first. */
export function GraceField({ id }: { id: string }) {
  return (
    <label for={id}>
      The old one
      <select id={id} name="grace">
        {choices.map(([ms, text]) => (
          <option value={String(ms)} selected={ms === 24 * hourMs}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The milliseconds of a posted field. @throws FilterError For a value that is no choice. */
export function graceOf(given: string | undefined): number {
  const found = choices.find(([ms]) => String(ms) === given)
  if (found === undefined) throw new FilterError('Choose how long the old secret works.')
  return found[0]
}

/** A box that must be ticked. */
export function SureField({ id, text }: { id: string; text: string }) {
  return (
    <label for={id} class="sure">
      <input id={id} type="checkbox" name="sure" value="yes" required /> {text}
    </label>
  )
}

/** Checks that box. @throws FilterError When it is not ticked. */
export function checkSure(given: string | undefined): void {
  if (given !== 'yes') throw new FilterError('Tick the box of the form first.')
}
