/** Polls a receipt source for payments without a final state. Source: docs/decisions/processor-updates.md. @module */
import type { ProcessorUpdate, UpdateResult } from '@payment-integration/contract'
import { assertWhole, describeError, type Loop } from '../internal/values.js'
import type { ReceiptSource } from '../ports/chain.js'
import type { Clock, Logger } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import type { StoredPayment } from './payment.js'
import type { PaymentReads } from './payment-store.js'
import { unsettledStates } from './state.js'

export interface ReceiptPoller extends Loop {
  /** One round over all payments without a final state. Resolves the number of applied updates. */
  runOnce(signal?: AbortSignal): Promise<number>
}

interface ChainPollDeps {
  readonly listUnsettled: PaymentReads['listUnsettled']
  readonly lookup: ReceiptSource['lookup']
  readonly applyUpdate: (update: ProcessorUpdate) => Promise<UpdateResult>
  readonly logger: Logger
  /** Payments read at a time. */
  readonly batch: number
  /** Payments polled at once. */
  readonly concurrency: number
  readonly isPolled: (payment: StoredPayment) => boolean
}

/** Resolves the number of updates that changed a payment. Rejects when the store cannot list the payments. */
type PollChain = (chainId: number, signal?: AbortSignal) => Promise<number>

/** Polls every payment of the chain, oldest first; stops early for an unreachable chain or an aborted signal. */
function createPollChain(deps: ChainPollDeps): PollChain {
  const { listUnsettled, batch, isPolled } = deps
  // The payment at which a turn stopped early. The next turn begins after it, so that a payment whose poll always
  // fails delays the later ones only once.
  const endedAt = new Map<number, string>()

  return async (chainId, signal) => {
    let applied = 0
    let afterId = endedAt.get(chainId)
    endedAt.delete(chainId)
    const page = () => listUnsettled({ chainId, afterId, limit: batch })
    let payments = await page()
    if (payments.length === 0 && afterId !== undefined) {
      afterId = undefined
      payments = await page()
    }
    for (;;) {
      const polled = await pollPayments(deps, payments.filter(isPolled), signal)
      applied += polled.applied
      if (polled.endedAt !== undefined) endedAt.set(chainId, polled.endedAt)
      if (polled.endedAt !== undefined || signal?.aborted || payments.length < batch) return applied
      afterId = payments.at(-1)?.id
      payments = await page()
    }
  }
}

/** `endedAt`: the last polled payment before the chain became unreachable. */
async function pollPayments(deps: ChainPollDeps, payments: readonly StoredPayment[], signal: AbortSignal | undefined) {
  const { lookup, logger } = deps
  let applied = 0
  let next = 0
  let reachable = true

  async function pollPayment(payment: StoredPayment): Promise<void> {
    const { chainId, txHash } = payment
    try {
      const update = await lookup(payment, signal)
      if (update !== null && (await applyReceiptUpdate(deps, payment, update))) applied += 1
    } catch (error) {
      if (signal?.aborted) return
      const fields = { chainId, txHash, error: describeError(error) }
      if (!isUnreachable(error)) logger.warn(fields, 'receipt not obtained')
      else if (reachable) logger.warn(fields, 'chain unreachable: its receipts are polled in the next round')
      if (isUnreachable(error)) reachable = false
    }
  }
  async function pollQueued(): Promise<void> {
    while (reachable && !signal?.aborted) {
      const payment = payments[next]
      if (payment === undefined) return
      next += 1
      await pollPayment(payment)
    }
  }
  await Promise.all(Array.from({ length: Math.min(deps.concurrency, payments.length) }, pollQueued))
  return { applied, endedAt: reachable ? undefined : payments[next - 1]?.id }
}

/** Applies an update. Resolves false when the payment is unchanged or the update failed, which is logged. */
async function applyReceiptUpdate(
  { applyUpdate, logger }: ChainPollDeps,
  { chainId, txHash, version }: StoredPayment,
  update: ProcessorUpdate,
): Promise<boolean> {
  try {
    const result = await applyUpdate(update)
    // A repeated update gets its first answer again, whose version is not newer.
    return result.outcome === 'applied' && result.version !== null && result.version > version
  } catch (error) {
    logger.warn({ chainId, txHash, error: describeError(error) }, 'receipt not applied')
    return false
  }
}

function isUnreachable(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' && code.endsWith('_UNAVAILABLE')
}

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
}

interface ReceiptPollerDeps {
  readonly store: { readonly payments: Pick<Store['payments'], 'listUnsettled' | 'unsettledChains'> }
  readonly source: ReceiptSource
  /** Applies an update like one from a processor, with version, snapshot and notification. */
  readonly applyUpdate: (update: ProcessorUpdate) => Promise<UpdateResult>
  readonly clock: Clock
  readonly logger: Logger
  readonly options?: ReceiptPollerOptions | undefined
}

/**
 * A payment whose poll or update fails is logged and polled again in the next round. An unreachable chain waits until
 * then; its next round begins after the polled payments.
 */
export function createReceiptPoller(deps: ReceiptPollerDeps): ReceiptPoller {
  const { source, applyUpdate, clock, logger } = deps
  const { payments } = deps.store
  const { everyMs = 15_000, batch = 100, concurrency = 8 } = deps.options ?? {}
  for (const [name, value] of Object.entries({ everyMs, batch, concurrency })) assertWhole(name, value, 1)

  const { states = unsettledStates, chainIds } = source.scope ?? {}
  const polledStates = unsettledStates.filter((state) => states.includes(state))
  const pollChain = createPollChain({
    listUnsettled: (query) => payments.listUnsettled(query),
    lookup: (payment, signal) => source.lookup(payment, signal),
    applyUpdate,
    logger,
    batch,
    concurrency,
    isPolled: ({ state }) => polledStates.includes(state),
  })

  async function chains(): Promise<readonly number[]> {
    if (polledStates.length === 0) return []
    return chainIds === undefined ? payments.unsettledChains() : [...new Set(chainIds)]
  }

  return {
    async runOnce(signal) {
      const rounds = await Promise.allSettled((await chains()).map((chainId) => pollChain(chainId, signal)))
      return rounds.reduce((applied, round) => {
        if (round.status === 'rejected') throw round.reason
        return applied + round.value
      }, 0)
    },
    async run(signal) {
      const busy = new Map<number, Promise<void>>()
      const runTurn = async (chainId: number) => {
        try {
          await pollChain(chainId, signal)
        } catch (error) {
          logger.error({ chainId, error: describeError(error) }, 'payments without a final state not listed')
        } finally {
          busy.delete(chainId)
        }
      }
      while (!signal.aborted) {
        try {
          for (const chainId of await chains()) if (!busy.has(chainId)) busy.set(chainId, runTurn(chainId))
        } catch (error) {
          logger.error({ error: describeError(error) }, 'chains of payments without a final state not listed')
        }
        await clock.sleep(everyMs, signal)
      }
      await Promise.all(busy.values())
    },
  }
}
