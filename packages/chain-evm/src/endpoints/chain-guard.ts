/** A node must be on our chain: it is asked before the first request, and again after silence. @module */
import type { Clock } from '@payment-integration/core/ports'
import { assertChainId } from '../internal/chain-id.js'
import { describeRpcError, type Failures } from '../internal/failures.js'
import { chainIdCall, type Rpc, type RpcOutcome } from '../internal/json-rpc.js'

/** A node that was not heard for this long may be another one behind the same address, in milliseconds. */
export const RECHECK_AFTER_MS = 60_000

/** The context of the check. */
export interface ChainGuardOptions {
  readonly chainId: number
  readonly clock: Clock
  readonly fail: Failures
  readonly rpc: Rpc
  /** Aborts when the endpoint is closed. */
  readonly closed: AbortSignal
  /** Told when the node is on another chain. */
  readonly onForeign: (what: string) => void
}

/** The check of one endpoint. */
export interface ChainGuard {
  /**
   * Asks the node unless it was checked. After a request without an answer, the next one can carry the call instead.
   * @returns Whether the request has to carry the call for the chain id; its answer goes to `checkAnswer`.
   * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node is on another chain, or does not say on which.
   */
  check(canCarry: boolean, signal: AbortSignal | undefined): Promise<boolean>
  /** @throws As {@link ChainGuard.check}. */
  checkAnswer(answer: RpcOutcome): void
  /** The node answered something. */
  heard(): void
  /** A request brought no answer. */
  lost(): void
  /** The connection that was kept is gone. */
  disconnected(): void
}

/** Starts unchecked. Requests that wait for the check share it. */
export function createChainGuard(options: ChainGuardOptions): ChainGuard {
  const { chainId, clock, fail, rpc, closed, onForeign } = options
  let checked = false
  /** The node was checked before it failed to answer, so that one request can carry the call. */
  let carries = false
  let heardAt = 0
  let checking: Promise<void> | null = null

  async function ask(): Promise<void> {
    take(await rpc.call(chainIdCall, closed))
  }

  function take(answer: unknown): void {
    assertChainId(answer, { chainId, fail }, onForeign)
    checked = true
    carries = false
  }

  return {
    async check(canCarry, signal) {
      const isHeard = clock.now() - heardAt < RECHECK_AFTER_MS
      if (checked && isHeard) return false
      if (carries && isHeard && canCarry) return true
      checked = false
      checking ??= ask().finally(() => {
        checking = null
      })
      await untilAborted(checking, signal)
      return false
    },
    checkAnswer(answer) {
      if (!answer.ok) throw fail.unavailable(`eth_chainId: ${describeRpcError(answer)}.`)
      take(answer.result)
    },
    heard() {
      heardAt = clock.now()
    },
    lost() {
      carries ||= checked
      checked = false
    },
    disconnected() {
      carries = false
      checked = false
    },
  }
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
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
