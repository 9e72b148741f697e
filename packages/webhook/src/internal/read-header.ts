/** One header out of whatever a framework calls headers. @module */
import type { HeadersLike } from '../delivery.js'

/** Headers that can be read more than once: a list, or what has names or a `get`. */
export type KeptHeaders = { readonly [name: string]: unknown } & Partial<Iterable<unknown>>

/** Makes a list of what may be an iterator, which is used up by its first reading. What is no object has no headers. */
export function keepHeaders(headers: HeadersLike): KeptHeaders {
  const kept: KeptHeaders = Object(headers)
  // Iterated where it can be, because the `get` of a Map minds case; the `get` of fetch headers does not, and is quicker.
  return kept[Symbol.iterator] && !kept['append'] ? ([...(kept as Iterable<unknown>)] as never) : kept
}

/** The header's value; repeated headers are joined by a comma, as HTTP does. `undefined` when there is none. */
export function readHeader(headers: KeptHeaders, name: string): string | undefined {
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
