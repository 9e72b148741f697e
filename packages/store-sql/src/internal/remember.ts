/** Values made from text, made once for texts that come again and again. @module */

/** Most texts kept: symbols and prices of the tokens that most payments are in. */
const mostTexts = 1_000

/**
 * Makes a function that answers the same object for the same text, which nobody may change.
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
