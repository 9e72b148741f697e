/** Recognises a missing or foreign table by the driver's error. @module */
import { MirrorTableForeignError, MirrorTablesMissingError } from '../errors.js'

/** Rethrows an error of the driver; one about a table as the mirror's own. */
export function rethrow(table: string): (error: unknown) => never {
  return (error) => {
    const { code, message } = Object(error) as { code?: unknown; message?: unknown }
    const text = String(message)
    if (code === '42P01' || /no such table/.test(text)) throw new MirrorTablesMissingError(table, error)
    if (code === '42703' || /no such column|has no column named/.test(text))
      throw new MirrorTableForeignError(table, error)
    throw error
  }
}
