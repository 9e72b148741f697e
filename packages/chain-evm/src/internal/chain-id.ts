/** Asks a node for its chain id. @module */
import type { Failures } from './failures.js'
import { toQuantity } from './hex.js'

/**
 * Checks an answer to `eth_chainId`.
 * @param onForeign - Told, before the error is thrown, when the node is on another chain.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node is on another chain, or does not say on which.
 */
export function assertChainId(
  answer: unknown,
  { chainId, fail }: { readonly chainId: number; readonly fail: Failures },
  onForeign: (what: string) => void,
): void {
  const answered = toQuantity(answer)
  if (answered === chainId) return
  if (answered === null) throw fail.unavailable('eth_chainId answered something else than a number.')
  const error = fail.unavailable(`the node is on chain ${answered}. Use the RPC URL of a node of chain ${chainId}.`)
  onForeign(error.message)
  throw error
}
