/** A development chain: where it is, and how viem names it. @module */
import { defineChain } from 'viem'

/** A development chain, such as `startAnvil` resolves. */
export interface DevChain {
  readonly rpcUrl: string
  readonly chainId: number
}

/** The chain as viem's wallet actions want it. */
export function toViemChain({ chainId, rpcUrl }: DevChain) {
  return defineChain({
    id: chainId,
    name: `Development chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
}
