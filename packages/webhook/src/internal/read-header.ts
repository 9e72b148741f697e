/** One header out of whatever a framework calls headers. @module */
import type { HeadersLike } from '../delivery.js'

/** The header's value; repeated headers are joined by a comma, as HTTP does. `undefined` when there is none. */
export function readHeader(headers: HeadersLike, name: string): string | undefined {
  const values: string[] = []
  const add = (key: unknown, value: unknown): void => {
    if (typeof key !== 'string' || key.length !== name.length || key.toLowerCase() !== name) return
    if (typeof value === 'string') values.push(value)
    else if (Array.isArray(value)) for (const part of value) add(key, part)
  }
  visit(headers as Bag, name, add)
  return values.length > 1 ? values.join() : values[0]
}

/** What the kinds of headers have in common. */
type Bag = { readonly [name: string]: unknown } & Partial<Iterable<unknown>>

function visit(headers: Bag | null | undefined, name: string, add: (key: unknown, value: unknown) => void): void {
  if (headers === null || typeof headers !== 'object') return
  const list = headers[Symbol.iterator] && !('append' in headers) ? [...(headers as Iterable<unknown>)] : undefined
  // Iterated where it can be, because the `get` of a Map minds case; the `get` of fetch headers does not, and is quicker.
  if (list) {
    for (const [index, item] of list.entries())
      if (Array.isArray(item)) add(item[0], item[1])
      // Node's rawHeaders: names and values in turns.
      else if (index % 2 === 0) add(item, list[index + 1])
  } else if (typeof headers['get'] === 'function') add(name, headers['get'](name))
  else for (const key of Object.keys(headers)) add(key, headers[key])
}
