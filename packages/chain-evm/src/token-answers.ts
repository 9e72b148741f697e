/** Decodes a token's answers to `symbol()` and `decimals()`. Tokens are foreign code: any bytes may come. @module */
import { byteLength, wordAt, wordToOffset } from './internal/hex.js'

/** Longest symbol that is kept, in code points. */
export const maxSymbolLength = 64

/**
 * Reads a symbol: an ABI string, or 32 bytes padded with NUL as early tokens answer it. Cut to 64 code points.
 * @returns The symbol, or null for an empty answer and for bytes that are not UTF-8 text or hold NUL.
 */
export function readSymbol(answer: string): string | null {
  const bytes = byteLength(answer) === 32 ? answer.slice(2).replace(/(00){1,32}$/, '') : stringBytes(answer)
  if (bytes === null || bytes.length === 0) return null
  const text = decodeUtf8(bytes)
  if (text === null || text.includes('\0')) return null
  return [...text].slice(0, maxSymbolLength).join('')
}

/** Reads decimals: 0 to 255, and 0 for any other answer. */
export function readDecimals(answer: string): number {
  const value = wordToOffset(wordAt(answer, 0))
  return value !== null && value <= 255 ? value : 0
}

function stringBytes(answer: string): string | null {
  const offset = wordToOffset(wordAt(answer, 0))
  const length = offset === null ? null : wordToOffset(wordAt(answer, offset))
  if (offset === null || length === null) return null
  const start = 2 + (offset + 32) * 2
  return start + length * 2 <= answer.length ? answer.slice(start, start + length * 2) : null
}

function decodeUtf8(hex: string): string | null {
  // Four bytes are the most that one code point takes, so the rest of a very long answer need not be decoded.
  const whole = hex.length / 2 <= maxSymbolLength * 4
  const bytes = Uint8Array.from(hex.slice(0, maxSymbolLength * 8).match(/../g) ?? [], (pair) =>
    Number.parseInt(pair, 16),
  )
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !whole })
  } catch {
    return null
  }
}
