/** Lists payments page by page. @module */
import type { PaymentKey } from '../version-store.js'

/** Payments of a page. A store on one connection reads each in its turn among the deliveries. */
export const pageSize = 500

/** The rest of a key, by which a page begins after the one before it. */
export type PageKey = readonly [chainId: string, txHash: string]

/** @param read - The payments after this key, at most `pageSize`, in the order of their keys. */
export async function* listPages(
  integrationAddress: string,
  read: (after: PageKey) => Promise<readonly PageKey[]>,
): AsyncGenerator<PaymentKey> {
  let after: PageKey | undefined = ['', '']
  while (after !== undefined) {
    const page: readonly PageKey[] = await read(after)
    for (const [chainId, txHash] of page) yield { integrationAddress, chainId, txHash }
    after = page[pageSize - 1]
  }
}
