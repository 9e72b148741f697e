/** Takes an answer apart in its bytes, where calls bring readers of their own. @module */
import { isKey, type ReadResult, skipSpace, skipValue, walkList, walkObject } from './json-bytes.js'
import { type RpcCall, type RpcOutcome, toOutcome } from './wire.js'

/**
 * The answers to calls numbered from `firstId`, as `decodeAnswer` has them; a result that the reader of its call takes is what the reader made of
 * it. Null for anything but plain results: then the answer is to be parsed as a whole, which also says what is wrong with it.
 */
export function decodeBytes(bytes: Buffer, firstId: number, calls: readonly RpcCall[]): (RpcOutcome | null)[] | null {
  const outcomes: (RpcOutcome | null)[] = calls.map(() => null)
  const begin = skipSpace(bytes, 0)
  const end =
    calls.length === 1
      ? readItem(bytes, begin, calls, () => 0, outcomes)
      : walkList(bytes, begin, (at) => readItem(bytes, at, calls, (id) => id - firstId, outcomes))
  return end !== -1 && skipSpace(bytes, end) >= bytes.length ? outcomes : null
}

/** Reads one answer into the outcomes. Its number must come before its result, or its reader is passed over. */
function readItem(
  bytes: Buffer,
  itemAt: number,
  calls: readonly RpcCall[],
  indexOf: (id: number) => number,
  outcomes: (RpcOutcome | null)[],
): number {
  let index = calls.length === 1 ? 0 : -1
  let read: ReadResult | null = null
  let hasError = false
  const end = walkObject(bytes, itemAt, (keyAt, length, at) => {
    if (isKey(bytes, keyAt, length, 'result')) {
      read = calls[index]?.read?.(bytes, at) ?? null
      return read === null ? skipValue(bytes, at) : read.end
    }
    const after = skipValue(bytes, at)
    if (isKey(bytes, keyAt, length, 'id') && after !== -1) index = indexOf(Number(bytes.toString('latin1', at, after)))
    hasError ||= isKey(bytes, keyAt, length, 'error')
    return after
  })
  if (end === -1 || hasError || !Number.isInteger(index)) return -1
  const known = read as ReadResult | null
  if (index in outcomes)
    outcomes[index] =
      known === null ? toOutcome(JSON.parse(bytes.toString('utf8', itemAt, end))) : { ok: true, result: known.value }
  return end
}
