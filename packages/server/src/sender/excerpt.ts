/** Collects the beginning of an answer's body, for the delivery log. @module */
import { excerptBytes } from '@payment-integration/core/ports'

/** Collects the beginning of a body. */
export interface Excerpt {
  /** Bytes of the body so far. */
  size(): number
  add(chunk: Uint8Array): void
  /**
   * The first `excerptBytes` as text, or null without a byte. A compressed body is not decompressed; its bytes are read
   * as text. Terminal control characters are removed.
   */
  text(): string | null
}

/** Control characters but line feed and tab, and characters that change the text direction. */
const unprintable = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Starts an empty excerpt. */
export function createExcerpt(): Excerpt {
  let beginning = Buffer.alloc(0)
  let size = 0
  return {
    size: () => size,
    add(chunk) {
      // A copy, so that one kilobyte does not retain a socket buffer.
      if (size < excerptBytes) beginning = Buffer.concat([beginning, chunk.subarray(0, excerptBytes - size)])
      size += chunk.length
    },
    text() {
      if (size === 0) return null
      // A character split by the cut is dropped, not shown as a flaw of the answer.
      return new TextDecoder().decode(beginning, { stream: size > beginning.length }).replace(unprintable, '')
    },
  }
}
