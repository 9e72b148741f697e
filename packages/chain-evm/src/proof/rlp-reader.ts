/** Finds items in RLP. Source: Ethereum yellow paper, appendix B. @module */

/** Bytes that are no RLP where an item was expected. */
export class MalformedRlpError extends Error {
  override readonly name = 'MalformedRlpError'
}

/** The offsets of an item's payload. The next item begins at `end`. */
export interface RlpItem {
  readonly isList: boolean
  readonly start: number
  readonly end: number
}

const list = 0xc0
/** From this offset of a first byte on, the length follows in bytes of its own. */
const longFrom = 56

/** The item at `at`. @throws {@link MalformedRlpError} when it does not end by `limit`. */
export function itemAt(bytes: Buffer, at: number, limit: number): RlpItem {
  const first = at < limit ? (bytes[at] as number) : Number.NaN
  if (first < 0x80) return { isList: false, start: at, end: at + 1 }
  const isList = first >= list
  const offset = first - (isList ? list : 0x80)
  const lengthBytes = offset < longFrom ? 0 : offset - longFrom + 1
  const start = at + 1 + lengthBytes
  // No length of a receipt takes more than four bytes.
  if (!(start <= limit) || lengthBytes > 4) throw new MalformedRlpError('an item is cut off or too long')
  const end = start + (lengthBytes === 0 ? offset : bytes.readUIntBE(at + 1, lengthBytes))
  if (end > limit) throw new MalformedRlpError('an item is cut off or too long')
  return { isList, start, end }
}

/** The items of a list. @throws {@link MalformedRlpError} */
export function itemsIn(bytes: Buffer, { isList, start, end }: RlpItem): RlpItem[] {
  if (!isList) throw new MalformedRlpError('a string stands where a list is expected')
  const items: RlpItem[] = []
  for (let at = start; at < end; ) {
    const item = itemAt(bytes, at, end)
    items.push(item)
    at = item.end
  }
  return items
}
