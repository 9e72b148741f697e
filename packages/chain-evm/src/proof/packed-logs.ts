/** Logs of a receipt as one short text: its RLP, a byte per character. Few are ever looked at again, and most of a log's hex is never made. @module */
import type { RlpWriter } from './rlp-writer.js'

/** A log as {@link unpackLogs} answers it, in lowercase hex. */
export interface UnpackedLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** The logs of a receipt that was written just now, from where they begin: so all of it is hex. */
export function packedText({ bytes, at }: RlpWriter, logsAt: number): string {
  return bytes.toString('latin1', logsAt, at)
}

/** The logs of a text that {@link packedText} made. */
export function unpackLogs(packed: string): UnpackedLog[] {
  const bytes = Buffer.from(packed, 'latin1')
  const logs: UnpackedLog[] = []
  for (let at = 0; at < bytes.length; ) {
    const log = payload(bytes, at)
    const address = payload(bytes, log.start)
    const list = payload(bytes, address.end)
    const topics: string[] = []
    for (let place = list.start; place < list.end; ) {
      const topic = payload(bytes, place)
      topics.push(hexOf(bytes, topic))
      place = topic.end
    }
    const data = payload(bytes, list.end)
    logs.push({
      address: hexOf(bytes, address),
      topics,
      data: hexOf(bytes, data),
    })
    at = log.end
  }
  return logs
}

/** Where a payload is. */
interface Place {
  readonly start: number
  readonly end: number
}

function hexOf(bytes: Buffer, { start, end }: Place): string {
  return `0x${bytes.toString('hex', start, end)}`
}

/** Where the payload of the string or list at `at` is. */
function payload(bytes: Uint8Array, at: number): Place {
  const first = bytes[at] as number
  const short = first - (first < 0xc0 ? 0x80 : 0xc0)
  if (short < 56) return { start: at + 1, end: at + 1 + short }
  const size = short - 55
  let length = 0
  for (let index = 1; index <= size; index++) length = length * 256 + (bytes[at + index] as number)
  return { start: at + 1 + size, end: at + 1 + size + length }
}
