/** Asks a node together with its chain id. @module */
import type { BlockRef } from '@payment-integration/core/ports'
import { readHeader } from '../internal/answers.js'
import { assertChainId } from '../internal/chain-id.js'
import type { Endpoint } from '../internal/endpoints.js'
import { describeRpcError, type Failures } from '../internal/failures.js'
import { chainIdCall, type RpcCall, type RpcOutcome } from '../internal/json-rpc.js'

/** The context of the chain id check. */
export interface OwnChain {
  readonly chainId: number
  readonly fail: Failures
  readonly endpoint: Pick<Endpoint, 'rpc' | 'note'>
}

/**
 * Sends calls in one batch with a question for the chain id. Otherwise another node could take over between two
 * requests and be trusted for the first one's answer. Answers that a block hash verifies need no such question.
 * @returns The outcomes of `calls`, in their order.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node is on another chain.
 */
export async function askOwnChain(
  { chainId, fail, endpoint }: OwnChain,
  calls: readonly RpcCall[],
  signal?: AbortSignal,
): Promise<RpcOutcome[]> {
  const [id, ...outcomes] = await endpoint.rpc.askAll([chainIdCall, ...calls], signal)
  if (!id?.ok) throw fail.unavailable(`eth_chainId: ${describeRpcError(id)}.`)
  assertChainId(id.result, { chainId, fail }, (what) => endpoint.note({ kind: 'contradiction', what }))
  return outcomes
}

/**
 * As {@link askOwnChain}, for the result of one call.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE`, also when the node is on another chain.
 */
export async function callOwnChain(own: OwnChain, call: RpcCall, signal?: AbortSignal): Promise<unknown> {
  const [outcome] = await askOwnChain(own, [call], signal)
  if (outcome?.ok) return outcome.result
  throw own.fail.unavailable(`${call.method}: ${describeRpcError(outcome)}.`)
}

/**
 * Reads the header under a tag or height; null when the node has none.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE`, also when the node is on another chain.
 */
export async function readOwnHeader(own: OwnChain, tag: string, signal?: AbortSignal): Promise<BlockRef | null> {
  return readHeader(await callOwnChain(own, { method: 'eth_getBlockByNumber', params: [tag, false] }, signal), own.fail)
}
