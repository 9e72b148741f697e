/** Lists payments page by page. @module */

/** Payments per page. On a single connection, each page waits for its turn among the deliveries. */
export const pageSize = 500

/** A key without the integration. A page begins after the last key of the previous page. */
export type PageKey = readonly [chainId: string, txHash: string]

/** @param read - Reads the payments after a key, at most `pageSize`, in the order of their keys. */
export async function* listPages(integrationAddress: string, read: (after: PageKey) => Promise<readonly PageKey[]>) {
  let after: PageKey | undefined = ['', '']
  while (after !== undefined) {
    const page: readonly PageKey[] = await read(after)
    for (const [chainId, txHash] of page) yield { integrationAddress, chainId, txHash }
    after = page[pageSize - 1]
  }
}
