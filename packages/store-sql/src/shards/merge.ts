/** Joins what the shards answer. @module */

/** Runs a read in each shard, one after the other: a connection answers one statement at a time. */
export async function ofEach<Part, Result>(
  parts: readonly Part[],
  read: (part: Part, place: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const [place, part] of parts.entries()) results.push(await read(part, place))
  return results
}

/** The first `limit` of sorted lists, in their order. */
export function firstOf<Item>(
  lists: readonly (readonly Item[])[],
  compare: (a: Item, b: Item) => number,
  limit = Number.POSITIVE_INFINITY,
): Item[] {
  const all = lists.flat().sort(compare)
  return all.length > limit ? all.slice(0, limit) : all
}

/** Compares ids as numbers. */
export const byNumber = (a: string, b: string): number => Number(a) - Number(b)

/** Compares text by its characters. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
