/** Parses JSON of other machines within bounds on bytes, nesting and brackets. @module */

/**
 * Deepest nesting of a foreign document. No document of a node, a provider or a feed has more than ten levels;
 * `JSON.parse` takes seconds for millions of them.
 */
export const maxForeignNesting = 32
/**
 * Most objects and lists of a document: so many, and one more for each 32 bytes. The shortest answers of nodes, batches
 * of empty lists, are small; large ones have 100 bytes an object and more. Empty objects take 20 times their bytes.
 */
const maxBrackets = { base: 10_000, bytesEach: 32 }
/** Most commas, likewise: `JSON.parse` takes seconds for a million short members of one object. */
const maxMembers = { base: 20_000, bytesEach: 16 }

/** A foreign document is too large, too deeply nested, or nothing but brackets. It was not parsed. */
export class ExcessiveJsonError extends Error {
  override readonly name = 'ExcessiveJsonError'
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

/**
 * Checks nesting, brackets and members in one pass over the bytes, of which strings are skipped. It is no check of the
 * syntax.
 * @throws {@link ExcessiveJsonError}
 */
export function assertModestJson(bytes: Uint8Array): void {
  let depth = 0
  let left = maxBrackets.base + bytes.length / maxBrackets.bytesEach
  let members = maxMembers.base + bytes.length / maxMembers.bytesEach
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number
    if (byte === quote) {
      index = endOfString(bytes, index)
      if (index === -1) return
      continue
    }
    // One bit is between `[` and `{`, and between `]` and `}`.
    const bracket = byte | 0x20
    if (bracket === 0x7d) depth -= 1
    if (byte === comma) members -= 1
    if (members < 0) throw new ExcessiveJsonError('the JSON has too many members for its size')
    if (bracket !== 0x7b) continue
    depth += 1
    left -= 1
    if (depth > maxForeignNesting) throw new ExcessiveJsonError(`the JSON is nested over ${maxForeignNesting} levels`)
    if (left < 0) throw new ExcessiveJsonError('the JSON has too many objects and lists for its size')
  }
}

/** The index of the quote that ends the string that begins at `start`; -1 when none does. */
function endOfString(bytes: Uint8Array, start: number): number {
  let end = bytes.indexOf(quote, start + 1)
  for (; end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let before = end - 1
    while (bytes[before] === backslash) before -= 1
    if ((end - before) % 2 === 1) break
  }
  return end
}

/**
 * Parses a document whose bytes are bounded already.
 * @throws {@link ExcessiveJsonError}
 * @throws SyntaxError When it is not JSON.
 */
export function parseForeignJson(bytes: Uint8Array): unknown {
  assertModestJson(bytes)
  return JSON.parse(new TextDecoder().decode(bytes))
}

/**
 * Reads and parses the body of a response, and cancels a longer one.
 * @throws {@link ExcessiveJsonError}
 * @throws SyntaxError When it is not JSON.
 */
export async function readForeignJson(response: Response, maxBytes: number): Promise<unknown> {
  return parseForeignJson(await readForeignBytes(response, maxBytes))
}

/**
 * Reads the body of a response, and cancels a longer one.
 * @throws {@link ExcessiveJsonError}
 */
export async function readForeignBytes(
  response: Pick<Response, 'body'>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Not every runtime can iterate over a stream.
  const reader = response.body?.getReader()
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > maxBytes) {
      void reader.cancel().catch(() => undefined)
      throw new ExcessiveJsonError(`the answer is larger than ${maxBytes} bytes`)
    }
    chunks.push(value)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}
