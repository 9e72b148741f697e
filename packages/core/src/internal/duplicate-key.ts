/** Finds a duplicate key of an object, of which `JSON.parse` silently takes the last. @module */

/**
 * Scans JSON text that `JSON.parse` accepted. Returns the first duplicate key of one object, or null. Keys are compared
 * as decoded, so `"a"` and `"\u0061"` are the same.
 */
export function findDuplicateKey(json: string): string | null {
  const open: (Set<string> | null)[] = []
  // The closing quote always exists; an optional one in the pattern keeps the time linear.
  const token = /"(?:[^"\\]|\\.)*"?|[{}[\]:,]/g
  let previous = ''
  for (let match = token.exec(json); match !== null; match = token.exec(json)) {
    const text = match[0]
    if (text === '{') open.push(new Set())
    else if (text === '[') open.push(null)
    else if (text === '}' || text === ']') open.pop()
    else if (text.startsWith('"') && (previous === '{' || previous === ',')) {
      const keys = open.at(-1)
      const key = JSON.parse(text) as string
      if (keys?.has(key)) return key
      keys?.add(key)
    }
    previous = text
  }
  return null
}
