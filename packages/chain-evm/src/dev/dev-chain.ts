/** A development chain: where it is, how viem names it, its funded accounts and its error. @module */

import { defineChain } from 'viem'
import { type HDAccount, mnemonicToAccount } from 'viem/accounts'
import { describeFailure, redactor } from '../rpc/failures.js'

/** The mnemonic of anvil's default accounts. Its keys are public: use them on development chains only. */
export const testMnemonic = 'test test test test test test test test test test test junk'

/**
 * A funded account of a chain started with `mnemonic`.
 * @param index - 0 to 9 hold 10,000 native tokens each. `deployDevRouter` uses 0 to deploy and 9 as treasury.
 */
export function devAccount(index: number, mnemonic: string = testMnemonic): HDAccount {
  return mnemonicToAccount(mnemonic, { addressIndex: index })
}

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

/** The node refused a transaction, did not answer, or did not mine. It holds no part of the node's URL. */
export class DevChainError extends Error {
  override readonly name = 'DevChainError'
  readonly code = 'ERR_DEV_CHAIN'
  readonly chainId: number
  constructor(chainId: number, what: string) {
    super(`Chain ${chainId} ${what}`)
    this.chainId = chainId
  }
}

/**
 * Waits for a step on a chain. When the signal aborts, the wait ends at once; the step itself may still come through.
 * @param what - The failed step as a clause, such as `did not take the payment`.
 * @throws {@link DevChainError} `ERR_DEV_CHAIN` when the step fails; the signal's reason when it aborts first.
 */
export async function onDevChain<T>(
  { chainId, rpcUrl }: DevChain,
  what: string,
  step: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return until(
    signal,
    step.catch((error: unknown) => {
      throw new DevChainError(chainId, `${what}: ${describeFailure(error, redactor(rpcUrl))}.`)
    }),
  )
}

/** Settles like `work`, or rejects with the signal's reason when that comes first. */
export async function until<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work
  let give: () => void = () => {}
  const aborted = new Promise<never>((_, reject) => {
    give = () => reject(signal.reason)
  })
  signal.addEventListener('abort', give)
  if (signal.aborted) give()
  try {
    return await Promise.race([aborted, work])
  } finally {
    signal.removeEventListener('abort', give)
  }
}
