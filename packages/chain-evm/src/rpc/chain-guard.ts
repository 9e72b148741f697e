/**
 * Checks that a node is on the right chain: before its first request, after silence, and together with a question.
 * @module
 */

import type { BlockRef, Clock } from '@payment-integration/core/ports'
import { parseHeader } from './answers.js'
import { describeRpcError, type Failures } from './failures.js'
import { parseQuantity } from './hex.js'
import { chainIdCall, type Node, type Rpc, type RpcCall, type RpcOutcome } from './json-rpc.js'

/**
 * Checks an answer to `eth_chainId`.
 * @param onForeign - Told, before the error is thrown, when the node is on another chain.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node is on another chain, or does not say on which.
 */
function assertChainId(
  answer: unknown,
  { chainId, fail }: { readonly chainId: number; readonly fail: Failures },
  onForeign: (what: string) => void,
): void {
  const answered = parseQuantity(answer)
  if (answered === chainId) return
  if (answered === null) throw fail.unavailable('eth_chainId answered something else than a number.')
  const error = fail.unavailable(`the node is on chain ${answered}. Use the RPC URL of a node of chain ${chainId}.`)
  onForeign(error.message)
  throw error
}

/** A node that was not heard for this long may be another one behind the same address, in milliseconds. */
const recheckAfterMs = 60_000

/** The context of the check. */
interface ChainGuardOptions {
  readonly chainId: number
  readonly clock: Clock
  readonly fail: Failures
  readonly rpc: Rpc
  /** Aborts when the node is closed. */
  readonly closed: AbortSignal
  /** Told when the node is on another chain. */
  readonly onForeign: (what: string) => void
}

/** The check of one node. */
interface ChainGuard {
  /**
   * Asks the node unless it was checked. After a request without an answer, the next one can carry the call instead.
   * @returns Whether the request has to carry the call for the chain id; its answer goes to `checkAnswer`.
   * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node is on another chain, or does not say on which.
   */
  check(canAddChainId: boolean, signal: AbortSignal | undefined): Promise<boolean>
  /** @throws As {@link ChainGuard.check}. */
  checkAnswer(answer: RpcOutcome): void
  /** The node answered something. */
  noteAnswer(): void
  /** A request brought no answer. */
  noteLoss(): void
  /** The connection that was kept is gone. */
  noteDisconnect(): void
}

/** Starts unchecked. Requests that wait for the check share it. */
export function createChainGuard(options: ChainGuardOptions): ChainGuard {
  const { chainId, clock, fail, rpc, closed, onForeign } = options
  let isChecked = false
  /** The node was checked before it failed to answer, so that one request can carry the call. */
  let nextAddsChainId = false
  let answeredAt = 0
  let checking: Promise<void> | null = null

  async function ask(): Promise<void> {
    accept(await rpc.call(chainIdCall, closed))
  }

  function accept(answer: unknown): void {
    assertChainId(answer, { chainId, fail }, onForeign)
    isChecked = true
    nextAddsChainId = false
  }

  return {
    async check(canAddChainId, signal) {
      const isRecent = clock.now() - answeredAt < recheckAfterMs
      if (isChecked && isRecent) return false
      if (nextAddsChainId && isRecent && canAddChainId) return true
      isChecked = false
      checking ??= ask().finally(() => {
        checking = null
      })
      await raceAbort(checking, signal)
      return false
    },
    checkAnswer(answer) {
      if (!answer.ok) throw fail.unavailable(`eth_chainId: ${describeRpcError(answer)}.`)
      accept(answer.result)
    },
    noteAnswer() {
      answeredAt = clock.now()
    },
    noteLoss() {
      nextAddsChainId ||= isChecked
      isChecked = false
    },
    noteDisconnect() {
      nextAddsChainId = false
      isChecked = false
    },
  }
}

async function raceAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  signal.throwIfAborted()
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** The context of the chain id check. */
export interface ExpectedChain {
  readonly chainId: number
  readonly fail: Failures
  readonly node: Pick<Node, 'rpc' | 'note'>
}

/**
 * Sends calls in one batch with a question for the chain id. Otherwise another node could take over between two
 * requests and be trusted for the first one's answer. Answers that a block hash verifies need no such question.
 * @returns The outcomes of `calls`, in their order.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node is on another chain.
 */
export async function askWithChainId(
  { chainId, fail, node }: ExpectedChain,
  calls: readonly RpcCall[],
  signal?: AbortSignal,
): Promise<RpcOutcome[]> {
  const [id, ...outcomes] = await node.rpc.askAll([chainIdCall, ...calls], signal)
  if (!id?.ok) throw fail.unavailable(`eth_chainId: ${describeRpcError(id)}.`)
  assertChainId(id.result, { chainId, fail }, (what) => node.note({ kind: 'contradiction', what }))
  return outcomes
}

/**
 * As {@link askWithChainId}, for the result of one call.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE`, also when the node is on another chain.
 */
export async function callWithChainId(own: ExpectedChain, call: RpcCall, signal?: AbortSignal): Promise<unknown> {
  const [outcome] = await askWithChainId(own, [call], signal)
  if (outcome?.ok) return outcome.result
  throw own.fail.unavailable(`${call.method}: ${describeRpcError(outcome)}.`)
}

/**
 * Reads the header under a tag or height; null when the node has none.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE`, also when the node is on another chain.
 */
export async function readHeaderWithChainId(
  own: ExpectedChain,
  tag: string,
  signal?: AbortSignal,
): Promise<BlockRef | null> {
  return parseHeader(
    await callWithChainId(own, { method: 'eth_getBlockByNumber', params: [tag, false] }, signal),
    own.fail,
  )
}
