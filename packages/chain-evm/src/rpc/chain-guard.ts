/** Checks that a node is on the right chain: before its first request, after silence, and along with calls. @module */
import type { BlockRef, Clock } from '@payment-integration/core/ports'
import { parseHeader } from './answers.js'
import { type Failures, raceAbort } from './failures.js'
import { parseQuantity } from './hex.js'
import type { Node, Rpc, RpcCall, RpcOutcome } from './json-rpc.js'
import { buildHeaderCall, chainIdCall, getResult } from './json-rpc.js'

/** Checks an answer to `eth_chainId`; calls `onWrongChain` before it throws, when the node is on another chain. */
function assertChainId(answer: unknown, fail: Failures, onWrongChain: (what: string) => void): void {
  const { chainId } = fail
  const answered = parseQuantity(answer)
  if (answered === chainId) return
  if (answered === null) throw fail.unavailable('eth_chainId did not return a number.')
  const error = fail.unavailable(`the node is on chain ${answered}. Use the RPC URL of a node of chain ${chainId}.`)
  onWrongChain(error.message)
  throw error
}

/** After this silence, in milliseconds, another node may answer at the same address. */
const recheckAfterMs = 60_000

interface ChainGuardOptions {
  readonly clock: Clock
  readonly fail: Failures
  readonly rpc: Rpc
  /** Aborts when the node is closed. */
  readonly closed: AbortSignal
  readonly onWrongChain: (what: string) => void
}

/** Creates the guard of one node. Requests that need the check at the same time share one check. */
export function createChainGuard(options: ChainGuardOptions) {
  const { clock, fail, rpc, closed, onWrongChain } = options
  /** `lost`: a request got no answer after the last check, so the next batch can contain the check. */
  let state: 'unchecked' | 'checked' | 'lost' = 'unchecked'
  let answeredAt = 0
  let checking: Promise<void> | null = null

  function acceptChainId(answer: unknown): void {
    assertChainId(answer, fail, onWrongChain)
    state = 'checked'
  }

  return {
    /**
     * Checks the node if that is due, as `RpcOptions.beforeRequest`. After an unanswered request, the next batch can
     * contain the chain id call instead.
     */
    async check(canAddChainId: boolean, signal: AbortSignal | undefined) {
      const isRecent = clock.now() - answeredAt < recheckAfterMs
      if (isRecent && state === 'checked') return null
      if (isRecent && state === 'lost' && canAddChainId) return acceptChainId
      if (state === 'checked') state = 'unchecked'
      checking ??= rpc
        .call(chainIdCall, closed)
        .then(acceptChainId)
        .finally(() => {
          checking = null
        })
      await raceAbort(checking, signal)
      return null
    },
    noteAnswer(): void {
      answeredAt = clock.now()
    },
    /** Notes that a request got no answer. */
    noteLoss(): void {
      if (state === 'checked') state = 'lost'
    },
    noteDisconnect(): void {
      state = 'unchecked'
    },
  }
}

/** A node, the chain that it must be on, and the signal that aborts its requests. */
export interface ExpectedChain {
  readonly fail: Failures
  readonly node: Node
  readonly signal: AbortSignal | undefined
}

/**
 * Sends `eth_chainId` and calls, in one batch if they fit, so that all answers come from the same node. Answers
 * that a block hash verifies need no chain id.
 * @returns The outcomes of `calls`, in their order.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node is on another chain.
 */
export async function askWithChainId(chain: ExpectedChain, calls: readonly RpcCall[]): Promise<RpcOutcome[]> {
  const { fail, node, signal } = chain
  const [id, ...outcomes] = await node.rpc.askAll([chainIdCall, ...calls], signal)
  assertChainId(getResult(fail, chainIdCall.method, id), fail, (what) => node.note({ kind: 'contradiction', what }))
  return outcomes
}

/** Like {@link askWithChainId}, for the result of one call. It also rejects when the node rejects the call. */
export async function callWithChainId(chain: ExpectedChain, call: RpcCall): Promise<unknown> {
  const [outcome] = await askWithChainId(chain, [call])
  return getResult(chain.fail, call.method, outcome)
}

/** Like {@link askWithChainId}, for one header; null when the node has none. */
export async function readHeaderWithChainId(chain: ExpectedChain, block: number | 'latest'): Promise<BlockRef | null> {
  return parseHeader(await callWithChainId(chain, buildHeaderCall(block)), chain.fail)
}
