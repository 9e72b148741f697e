/** A node must be on our chain: it is asked before the first request, and again after silence. @module */
import type { Clock } from '@payment-integration/core/ports'
import { assertChainId } from '../internal/chain-id.js'
import type { Failures } from '../internal/failures.js'
import type { Rpc } from '../internal/json-rpc.js'

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
  /** @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node is on another chain, or does not say on which. */
  check(signal: AbortSignal | undefined): Promise<void>
  /** The node answered something. */
  heard(): void
  /** A request brought no answer, or the connection that was kept for it is gone. */
  lost(): void
}

/** Starts unchecked. Requests that wait for the check share it. */
export function createChainGuard(options: ChainGuardOptions): ChainGuard {
  const { chainId, clock, fail, rpc, closed, onForeign } = options
  let checked = false
  let heardAt = 0
  let checking: Promise<void> | null = null

  async function ask(): Promise<void> {
    assertChainId(await rpc.call({ method: 'eth_chainId', params: [] }, closed), { chainId, fail }, onForeign)
    checked = true
  }

  return {
    async check(signal) {
      if (checked && clock.now() - heardAt < RECHECK_AFTER_MS) return
      checked = false
      checking ??= ask().finally(() => {
        checking = null
      })
      await untilAborted(checking, signal)
    },
    heard() {
      heardAt = clock.now()
    },
    lost() {
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
