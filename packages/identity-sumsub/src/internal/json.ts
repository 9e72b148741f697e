/** Reads fields of foreign JSON: only own properties count. @module */

/** A JSON object, or null for anything else. */
export function record(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}

/** A field of an object; undefined when absent. */
export function field(value: unknown, name: string): unknown {
  const object = record(value)
  return object !== null && Object.hasOwn(object, name) ? object[name] : undefined
}

/** A text that is not empty, or null. */
export function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A whole number, or null. */
export function whole(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null
}

/** The texts of a list, without entries of other types. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
