/** Caches values that are built from frequent texts. @module */

/** Most cached texts: symbols and prices of frequent tokens. */
const mostTexts = 1_000

/**
 * Makes a function that returns the same object for the same text. Callers must not change it.
 * @param make - Must depend on the text alone.
 */
export function remember<Made>(make: (text: string) => Made): (text: string) => Made {
  const known = new Map<string, Made>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const made = make(text)
    if (known.size >= mostTexts) known.clear()
    known.set(text, made)
    return made
  }
}
