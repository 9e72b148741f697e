/** Reuses buffers for the bodies of answers, because new ones would wait for the garbage collector. @module */
import type { Readable } from 'node:stream'
import { TooLargeError } from './failures.js'

/** Reads bodies. */
export interface BodyBuffers {
  /**
   * Reads a body to its end.
   * @param announced - Its declared length in bytes, or 0.
   * @param isPacked - Whether that is the compressed length.
   * @param maxBytes - The largest accepted body.
   * @throws {@link TooLargeError} When it is larger.
   */
  fill(body: Readable, announced: number, isPacked: boolean, maxBytes: number): Promise<Buffer>
  /** Takes back a buffer of {@link fill}; nothing may still point into it. */
  giveBack(body: Buffer): void
}

const smallest = 65_536
/** Larger buffers are not reused. */
const largestKept = 4_194_304
/** As many as parallel requests. */
const mostKept = 3

/** Starts without any buffer. */
export function createBodyBuffers(): BodyBuffers {
  const kept: Buffer[] = []

  /** A buffer for at least `length` bytes: the one that was given back last, or a new one. */
  function take(length: number): Buffer {
    const known = kept.pop()
    if (known !== undefined && known.length >= length) return known
    let size = smallest
    while (size < length) size *= 2
    return Buffer.allocUnsafeSlow(size)
  }

  return {
    async fill(body, announced, isPacked, maxBytes) {
      if (announced > maxBytes) throw new TooLargeError(maxBytes)
      let into = take(isPacked ? 0 : announced)
      let size = 0
      for await (const chunk of body as AsyncIterable<Buffer>) {
        if (size + chunk.length > maxBytes) throw new TooLargeError(maxBytes)
        if (size + chunk.length > into.length) {
          const larger = take(Math.max(size + chunk.length, into.length * 2))
          into.copy(larger, 0, 0, size)
          into = larger
        }
        chunk.copy(into, size)
        size += chunk.length
      }
      return into.subarray(0, size)
    },
    giveBack({ buffer }) {
      if (kept.length < mostKept && buffer.byteLength <= largestKept) kept.push(Buffer.from(buffer))
    },
  }
}
