/** One header out of whatever a framework calls headers. @module */
import type { HeadersLike } from '../delivery.js'

/** Headers that can be read more than once: a list, or what has names or a `get`. */
export type ReadableHeaders = { readonly [name: string]: unknown } & Partial<Iterable<unknown>>

/** Copies an iterator into a list, as it can be read only once. A value that is no object has no headers. */
export function toReadable(headers: HeadersLike): ReadableHeaders {
  const source: ReadableHeaders = Object(headers)
  // Iterates where possible, because the `get` of a Map minds case. That of fetch headers does not, and is quicker.
  return source[Symbol.iterator] && !source['append'] ? ([...(source as Iterable<unknown>)] as never) : source
}

/** The header's value; repeated headers are joined by a comma, as HTTP does. `undefined` when there is none. */
export function readHeader(headers: ReadableHeaders, name: string): string | undefined {
  let found: string | undefined
  const add = (key: unknown, value: unknown): void => {
    if (typeof key !== 'string' || key.length !== name.length || key.toLowerCase() !== name) return
    if (typeof value === 'string') found = found === undefined ? value : `${found},${value}`
    else if (Array.isArray(value)) for (const part of value) add(key, part)
  }
  if (Array.isArray(headers)) {
    for (const [index, item] of headers.entries())
      if (Array.isArray(item)) add(item[0], item[1])
      // Node's rawHeaders: names and values in turns.
      else if (index % 2 === 0) add(item, headers[index + 1])
  } else if (typeof headers['get'] === 'function') add(name, headers['get'](name))
  else for (const key of Object.keys(headers)) add(key, headers[key])
  return found
}
