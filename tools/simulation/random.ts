/** Repeatable randomness: one seed gives the same draws on every machine. @module */
import { parseMasterKey } from '@payment-integration/core'

export interface Draws {
  /** A number in [0, 1). */
  fraction(): number
  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number
  /** True with the given probability. */
  chance(probability: number): boolean
  /** An item of a list that is not empty. */
  pick<T>(list: readonly T[]): T
  /** The list, shuffled. */
  shuffled<T>(list: readonly T[]): T[]
  /** `bytes` random bytes as 0x hex. */
  hex(bytes: number): `0x${string}`
  /** An independent stream, so that draws of one part do not shift those of another. */
  fork(name: string): Draws
}

/** The draws of a seed. The generator is mulberry32: small, fast, and good enough for choosing faults. */
export function createDraws(seed: number | string): Draws {
  let state = hashText(String(seed))
  const fraction = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (min: number, max: number) => min + Math.floor(fraction() * (max - min + 1))
  return {
    fraction,
    whole,
    chance: (probability) => fraction() < probability,
    pick(list) {
      const [item] = list.slice(whole(0, list.length - 1))
      if (item === undefined) throw new RangeError('There is nothing to pick from.')
      return item
    },
    shuffled: (list) =>
      list
        .map((item) => ({ item, order: fraction() }))
        .sort((a, b) => a.order - b.order)
        .map(({ item }) => item),
    hex(bytes) {
      let text = '0x'
      for (let index = 0; index < bytes; index += 1) text += whole(0, 255).toString(16).padStart(2, '0')
      return text as `0x${string}`
    },
    fork: (name) => createDraws(`${seed}/${name}`),
  }
}

/** FNV-1a, spread over all bits. */
function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ (hash >>> 13)
}

/** A key without any secret. */
export const simulatedMasterKey = parseMasterKey('0123456789abcdef'.repeat(4))
