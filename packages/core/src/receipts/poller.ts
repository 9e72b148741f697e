/**
 * Polls a receipt source for payments without a final state. Source: docs/interface.md 1 and 6,
 * docs/decisions/receipt-polling.md.
 * @module
 */
import type { ProcessorUpdate, UpdateResult } from '@payment-integration/contract'
import { assertWhole } from '../internal/assert-whole.js'
import { describeError } from '../internal/describe-error.js'
import { unsettledStates } from '../payments/transition.js'
import type { ReceiptSource } from '../ports/receipt-source.js'
import type { Store } from '../ports/store.js'
import type { Clock, Logger } from '../ports/world.js'
import type { ReceiptPoller } from '../service-types.js'
import { createAskChain } from './ask-chain.js'

/** When the poller polls. */
export interface ReceiptPollerOptions {
  /**
   * Time from one round to the next, in milliseconds. A chain whose last round still runs skips the next one.
   * @default 15000
   */
  readonly everyMs?: number | undefined
  /** Payments of a chain read from the store at a time. @default 100 */
  readonly batch?: number | undefined
  /** Payments of a chain polled at once. @default 8 */
  readonly concurrency?: number | undefined
  /**
   * Payments whose block is younger than this are polled in a later round, in milliseconds; 0 polls all.
   * @default 0
   */
  readonly minAgeMs?: number | undefined
}

/** The defaults of {@link ReceiptPollerOptions}. */
export const receiptPollerDefaults = { everyMs: 15_000, batch: 100, concurrency: 8, minAgeMs: 0 } as const

/** The dependencies of a poller. */
export interface ReceiptPollerDeps {
  readonly store: { readonly payments: Pick<Store['payments'], 'listUnsettled' | 'unsettledChains'> }
  readonly source: ReceiptSource
  /** Applies an update like one from a processor, with version, snapshot and notification. */
  readonly applyUpdate: (update: ProcessorUpdate) => Promise<UpdateResult>
  readonly clock: Clock
  readonly logger: Logger
  readonly options?: ReceiptPollerOptions | undefined
}

/**
 * Builds a poller.
 *
 * Chains are polled side by side, within the scope of the source. A payment whose poll or update fails is logged and
 * polled again in the next round; the others continue. A chain that the source cannot reach is logged and rests until
 * the next round, which begins after the polled payments. `runOnce` rejects with the store's error when payments cannot
 * be listed. `run` never rejects and starts a round at once; when its signal aborts, it completes the payments in
 * flight.
 *
 * @throws RangeError When an option is out of range.
 */
export function createReceiptPoller(deps: ReceiptPollerDeps): ReceiptPoller {
  const { source, applyUpdate, clock, logger } = deps
  const { payments } = deps.store
  const {
    everyMs = receiptPollerDefaults.everyMs,
    batch = receiptPollerDefaults.batch,
    concurrency = receiptPollerDefaults.concurrency,
    minAgeMs = receiptPollerDefaults.minAgeMs,
  } = deps.options ?? {}
  assertWhole('everyMs', everyMs, 1)
  assertWhole('batch', batch, 1)
  assertWhole('concurrency', concurrency, 1)
  assertWhole('minAgeMs', minAgeMs, 0)

  const { states = unsettledStates, chainIds } = source.scope ?? {}
  const asked = unsettledStates.filter((state) => states.includes(state))
  const askChain = createAskChain({
    listUnsettled: (query) => payments.listUnsettled(query),
    lookup: (payment, signal) => source.lookup(payment, signal),
    applyUpdate,
    logger,
    batch,
    concurrency,
    due: ({ state, blockTimestamp }) =>
      asked.includes(state) && (minAgeMs === 0 || clock.now() - blockTimestamp >= minAgeMs),
  })

  async function chains(): Promise<readonly number[]> {
    if (asked.length === 0) return []
    return chainIds === undefined ? payments.unsettledChains() : [...new Set(chainIds)]
  }

  return {
    async runOnce(signal) {
      const turns = await Promise.allSettled((await chains()).map((chainId) => askChain(chainId, signal)))
      return turns.reduce((applied, turn) => {
        if (turn.status === 'rejected') throw turn.reason
        return applied + turn.value
      }, 0)
    },
    async run(signal) {
      const busy = new Map<number, Promise<void>>()
      const take = async (chainId: number) => {
        try {
          await askChain(chainId, signal)
        } catch (error) {
          logger.error({ chainId, error: describeError(error) }, 'payments without a final state not listed')
        } finally {
          busy.delete(chainId)
        }
      }
      while (!signal.aborted) {
        try {
          for (const chainId of await chains()) if (!busy.has(chainId)) busy.set(chainId, take(chainId))
        } catch (error) {
          logger.error({ error: describeError(error) }, 'chains of payments without a final state not listed')
        }
        await clock.sleep(everyMs, signal)
      }
      await Promise.all(busy.values())
    },
  }
}
