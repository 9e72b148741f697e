/** Finds a key that an object holds twice, which `JSON.parse` would silently resolve to the last one. @module */

/**
 * Walks JSON text that `JSON.parse` accepted. Returns the first key given twice in one object, or null.
 * Keys are compared as they decode, so `"a"` and `"\u0061"` are the same.
 */
export function findDuplicateKey(json: string): string | null {
  const open: (Set<string> | null)[] = []
  // The last quote is there; that it need not be keeps the time linear whatever the text.
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
