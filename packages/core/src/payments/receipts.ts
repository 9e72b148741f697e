/** Polls a receipt source for payments without a final state. Source: docs/decisions/processor-updates.md. @module */
import type { ProcessorUpdate, UpdateResult } from '@payment-integration/contract'
import { assertWhole, describeError, type Poller, type PollerOptions, runConcurrently } from '../internal/values.js'
import type { ReceiptSource } from '../ports/chain.js'
import type { Clock, Logger } from '../ports/runtime.js'
import { unsettledStates } from './change-status.js'
import type { StoredPayment } from './payment.js'
import type { PaymentReads } from './payment-store.js'

interface ReceiptPollerDeps extends PollerOptions {
  readonly store: { readonly payments: Pick<PaymentReads, 'listUnsettled' | 'unsettledChains'> }
  readonly source: ReceiptSource
  /** Applies an update like one from a processor, with version, snapshot and notification. */
  readonly applyUpdate: (update: ProcessorUpdate) => Promise<UpdateResult>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * A payment whose poll or update fails is logged and polled again in the next round. An unreachable chain waits until
 * then; its next round begins after the polled payments. A chain whose last round still runs skips the next one.
 */
export function createReceiptPoller(deps: ReceiptPollerDeps): Poller {
  const { source, applyUpdate, clock, logger, everyMs = 15_000, batch = 100, concurrency = 8 } = deps
  const { payments } = deps.store
  for (const [name, value] of Object.entries({ everyMs, batch, concurrency })) assertWhole(name, value, 1)
  const { states = unsettledStates, chainIds } = source.scope ?? {}
  const polledStates = unsettledStates.filter((state) => states.includes(state))
  // The payment at which a round stopped early. The next round begins after it, so that a payment whose poll always
  // fails delays the later ones only once.
  const stoppedAfter = new Map<number, string>()

  /** Resolves whether the update changed the payment. A failure is logged. */
  async function applyReceipt({ chainId, txHash, version }: StoredPayment, update: ProcessorUpdate): Promise<boolean> {
    try {
      const result = await applyUpdate(update)
      // A repeated update gets its first answer again, whose version is not newer.
      return result.outcome === 'applied' && (result.version ?? 0) > version
    } catch (error) {
      logger.warn({ chainId, txHash, error: describeError(error) }, 'receipt not applied')
      return false
    }
  }

  /**
   * Polls the payments of a chain, oldest first; stops early when the chain is unreachable or the signal aborts.
   * Resolves the number of updates that changed a payment.
   */
  async function pollChain(chainId: number, signal?: AbortSignal): Promise<number> {
    let applied = 0
    let isReachable = true
    const resumeId = stoppedAfter.get(chainId)
    stoppedAfter.delete(chainId)

    async function poll(payment: StoredPayment): Promise<void> {
      try {
        const update = await source.lookup(payment, signal)
        if (update !== null && (await applyReceipt(payment, update))) applied += 1
      } catch (error) {
        if (signal?.aborted) return
        const fields = { chainId, txHash: payment.txHash, error: describeError(error) }
        const { code } = (error ?? {}) as { code?: unknown }
        const isUnreachable = typeof code === 'string' && code.endsWith('_UNAVAILABLE')
        if (!isUnreachable) return logger.warn(fields, 'receipt not obtained')
        if (isReachable) logger.warn(fields, 'chain unreachable: its receipts are polled in the next round')
        isReachable = false
      }
    }

    for (let afterId = resumeId; ; ) {
      const page = await payments.listUnsettled({ chainId, afterId, limit: batch })
      const isResumed = afterId !== undefined && afterId === resumeId
      // Nothing is left after the payment at which the last round stopped: begin at the oldest.
      if (isResumed && page.length === 0) return pollChain(chainId, signal)
      const polled = page.filter(({ state }) => polledStates.includes(state))
      const count = await runConcurrently(polled, concurrency, () => isReachable && !signal?.aborted, poll)
      const last = polled[count - 1]
      if (!isReachable && last !== undefined) stoppedAfter.set(chainId, last.id)
      if (!isReachable || signal?.aborted || page.length < batch) return applied
      afterId = page.at(-1)?.id
    }
  }

  async function findChains(): Promise<readonly number[]> {
    if (polledStates.length === 0) return []
    return chainIds === undefined ? payments.unsettledChains() : [...new Set(chainIds)]
  }

  return {
    async runOnce(signal) {
      const rounds = (await findChains()).map((chainId) => pollChain(chainId, signal))
      await Promise.allSettled(rounds)
      return (await Promise.all(rounds)).reduce((sum, applied) => sum + applied, 0)
    },
    async run(signal) {
      const running = new Map<number, Promise<unknown>>()
      const runRound = (chainId: number) =>
        pollChain(chainId, signal)
          .catch((error) =>
            logger.error({ chainId, error: describeError(error) }, 'payments without a final state not listed'),
          )
          .finally(() => running.delete(chainId))
      while (!signal.aborted) {
        try {
          for (const chainId of await findChains()) if (!running.has(chainId)) running.set(chainId, runRound(chainId))
        } catch (error) {
          logger.error({ error: describeError(error) }, 'chains of payments without a final state not listed')
        }
        await clock.sleep(everyMs, signal)
      }
      await Promise.all(running.values())
    },
  }
}
