/** One header out of whatever a framework calls headers. @module */
import type { HeadersLike } from '../delivery.js'

/** The header's value; repeated headers are joined by a comma, as HTTP does. `undefined` when there is none. */
export function readHeader(headers: HeadersLike, name: string): string | undefined {
  const wanted = name.toLowerCase()
  const values: string[] = []
  for (const [key, value] of pairs(headers, name)) {
    if (typeof key !== 'string' || key.toLowerCase() !== wanted) continue
    for (const part of Array.isArray(value) ? value : [value]) if (typeof part === 'string') values.push(part)
  }
  return values.length === 0 ? undefined : values.join(',')
}

/** Iterates where it can, because the `get` of a Map minds case. */
function pairs(headers: HeadersLike, name: string): Iterable<readonly unknown[]> {
  if (headers === null || typeof headers !== 'object') return []
  if (Symbol.iterator in headers) return [...headers].filter((pair): pair is [string, string] => Array.isArray(pair))
  if (typeof headers.get === 'function') return [[name, headers.get(name)]]
  return Object.entries(headers)
}
