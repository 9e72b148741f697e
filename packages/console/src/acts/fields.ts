/** Reads the fields of an act's form. @module */
import { FilterError } from '../filters.js'

type Fields = Readonly<Record<string, string>>

/** A field that must be given. @throws FilterError Without it. */
export function requiredField(fields: Fields, name: string): string {
  const value = fields[name]
  if (value === undefined) throw new FilterError(`The field ${name} is empty.`)
  return value
}

const mostHours = 30 * 24

/** A grace time in whole hours, as milliseconds. @throws FilterError Unless it is 1 to 720 hours. */
export function graceField(fields: Fields): number {
  const text = requiredField(fields, 'graceHours')
  const hours = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN
  if (!(hours >= 1 && hours <= mostHours))
    throw new FilterError(`The grace time is a whole number of hours, 1 to ${mostHours}.`)
  return hours * 3_600_000
}

/** @throws FilterError Unless the box that confirms the act is checked. */
export function confirmedField(fields: Fields): void {
  if (fields['confirmed'] !== 'yes') throw new FilterError('Check the box that confirms this, then try again.')
}
