/** The beginning of an answer's body, for the delivery log. @module */
import { excerptBytes } from '@payment-integration/core/ports'

/** Collects the beginning of a body. */
export interface Excerpt {
  /** How many bytes the body had until now. */
  size(): number
  add(chunk: Uint8Array): void
  /**
   * The first `excerptBytes` as text, or null when no byte came. An encoded body is not unpacked: its bytes are read as
   * text like any others. What a terminal would obey is left out.
   */
  text(): string | null
}

/** Controls, but line feed and tab, and what turns the direction of the text around it. */
const unprintable = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Starts an empty excerpt. */
export function createExcerpt(): Excerpt {
  let kept = Buffer.alloc(0)
  let size = 0
  return {
    size: () => size,
    add(chunk) {
      // A copy, so that a kilobyte does not hold on to a buffer of the socket.
      if (size < excerptBytes) kept = Buffer.concat([kept, chunk.subarray(0, excerptBytes - size)])
      size += chunk.length
    },
    text() {
      if (size === 0) return null
      // A character that the cut goes through is left out, not shown as a flaw of the answer.
      return new TextDecoder().decode(kept, { stream: size > kept.length }).replace(unprintable, '')
    },
  }
}
