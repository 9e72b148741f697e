/** Repeatable numbers in [0, 1) from a seed: mulberry32. */
export function seededFraction(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A new order of the same items. */
export function shuffled<T>(items: readonly T[], fraction: () => number): T[] {
  const order = items.map((item) => ({ item, key: fraction() }))
  return order.sort((a, b) => a.key - b.key).map(({ item }) => item)
}
