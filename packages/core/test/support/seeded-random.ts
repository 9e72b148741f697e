import { createHash } from 'node:crypto'
import type { RandomSource } from '../../src/ports/runtime.js'

/** A repeatable source of bytes and fractions: a hash in counter mode. */
export function seededRandom(seed: number | string): RandomSource {
  let counter = 0
  const block = () => createHash('sha256').update(`${seed}:${counter++}`).digest()
  return {
    bytes(length) {
      const blocks: Buffer[] = []
      while (blocks.length * 32 < length) blocks.push(block())
      return Buffer.concat(blocks).subarray(0, length)
    },
    fraction: () => block().readUInt32BE(0) / 2 ** 32,
  }
}
