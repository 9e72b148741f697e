/** Headers of any usual type as a list of pairs. @module */

/** Headers: fetch `Headers`, a record of Node or Lambda, or a list of pairs. Names compare without case. */
export type ExplainHeaders =
  | Iterable<readonly [string, string | readonly string[] | undefined]>
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** A header, with one value. */
export type HeaderPair = readonly [name: string, value: string]

/** Most headers that are read. */
const mostHeaders = 500

/** The headers as pairs, repeated ones repeated. Anything that is not a pair of texts is left out. */
export function readHeaders(headers: ExplainHeaders): HeaderPair[] {
  const source: object = Object(headers)
  const entries: Iterable<readonly unknown[]> =
    Symbol.iterator in source ? (source as Iterable<readonly unknown[]>) : Object.entries(source)
  const pairs: HeaderPair[] = []
  for (const [name, value] of entries) {
    if (typeof name !== 'string') continue
    for (const each of Array.isArray(value) ? value : [value]) if (typeof each === 'string') pairs.push([name, each])
    if (pairs.length >= mostHeaders) break
  }
  return pairs.slice(0, mostHeaders)
}

/** Every value of a header. */
export function valuesOf(pairs: readonly HeaderPair[], name: string): string[] {
  const wanted = name.toLowerCase()
  return pairs.flatMap(([each, value]) => (each.toLowerCase() === wanted ? [value] : []))
}
