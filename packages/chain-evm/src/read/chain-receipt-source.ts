/**
 * Answers receipt polling from the chain, for payments without a processor.
 * Source: docs/interface.md 6 (receipt polling), 8 (finality); docs/decisions/processor-updates.md.
 * @module
 */
import { createCheckedChain, createFinality } from '@payment-integration/core/internal'
import type { Chain, ReceiptSource, StoredPayment } from '@payment-integration/core/ports'
import { hashText, loadKeccak } from '../proof/keccak.js'

/** Options of {@link createChainReceiptSource}. */
export interface ChainReceiptSourceOptions {
  /** Chains by chain id. Payments of other chains get no answer. */
  readonly chains: ReadonlyMap<number, Chain>
  /**
   * Blocks on top of a block that make it final, by chain id; null for a chain that is never final.
   * @default the finality table of docs/interface.md 8; chains that are not in it are never final
   */
  readonly confirmations?: Readonly<Record<number, number | null>> | undefined
  /** Selects the payments to answer. @default those with neither state, recipient nor invoice */
  readonly appliesTo?: ((payment: StoredPayment) => boolean) | undefined
}

const finalStates = { succeeded: 'success', reverted: 'failure' } as const

/**
 * Creates a receipt source that reads chains: a final transaction is a success, or a failure if it reverted. It answers
 * null while the transaction is not final, or is missing: a reorg may put it back. Its scope is the given chains with
 * finality and, unless `appliesTo` is given, payments without a state. It rejects with ChainAdapterError
 * `ERR_CHAIN_ADAPTER` when a chain's answer is flawed.
 * @throws {RangeError} When a number of confirmations is not a whole number of at least 0.
 * @example
 * import { createChainReceiptSource, createEvmChain, knownRouters } from '@payment-integration/chain-evm'
 * const chain = createEvmChain({ chainId: 10, rpcUrl: 'https://node.example', routers: knownRouters(10) })
 * const source = createChainReceiptSource({ chains: new Map([[10, chain]]) })
 */
export function createChainReceiptSource(options: ChainReceiptSourceOptions): ReceiptSource {
  const { chains, appliesTo } = options
  const { confirmations } = createFinality(options.confirmations)
  const isApplicable = appliesTo ?? hasNoProcessor

  return {
    scope: {
      ...(appliesTo === undefined ? { states: [null] } : {}),
      chainIds: [...chains.keys()].filter((chainId) => confirmations(chainId) !== null),
    },
    async lookup(payment, signal) {
      const chain = chains.get(payment.chainId)
      const depth = confirmations(payment.chainId)
      if (chain === undefined || depth === null || !isApplicable(payment)) return null
      const checkedChain = createCheckedChain(chain)
      const head = await checkedChain.head(signal)
      if (head.number - payment.blockNumber < depth) return null
      // A reorg may have put the transaction into another block since it was indexed: its current block decides.
      const { fate, blockNumber } = await checkedChain.transactionFate(payment.txHash, signal)
      if (fate === 'unknown' || blockNumber === null || head.number - blockNumber < depth) return null
      await loadKeccak()
      return toUpdate(payment, fate)
    },
  }
}

function hasNoProcessor({ state, recipient, invoice }: StoredPayment): boolean {
  return state === null && recipient === null && invoice === null
}

function toUpdate({ chainId, txHash, integrationAddress }: StoredPayment, fate: keyof typeof finalStates) {
  const state = finalStates[fate]
  const facts = [chainId, txHash, integrationAddress ?? '', fate, state].join('|')
  return {
    id: `chain:${hashText(facts).slice(2)}`,
    chainId: String(chainId),
    txHash,
    ...(integrationAddress === null ? {} : { integrationAddress }),
    state,
  }
}
