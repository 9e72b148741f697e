/**
 * Polls the receipts of one chain. Source: docs/interface.md 6 (receipt polling), docs/decisions/receipt-polling.md.
 * @module
 */
import type { ProcessorUpdate, UpdateResult } from '@payment-integration/contract'
import { describeError } from '../internal/describe-error.js'
import type { StoredPayment } from '../payments/record.js'
import type { ReceiptSource } from '../ports/receipt-source.js'
import type { PaymentReads } from '../ports/store-reads.js'
import type { Logger } from '../ports/world.js'

/** The dependencies of polling a chain. */
export interface AskChainDeps {
  readonly listUnsettled: PaymentReads['listUnsettled']
  readonly lookup: ReceiptSource['lookup']
  readonly applyUpdate: (update: ProcessorUpdate) => Promise<UpdateResult>
  readonly logger: Logger
  /** Payments read at a time. */
  readonly batch: number
  /** Payments polled at once. */
  readonly concurrency: number
  /** Whether a payment is due. */
  readonly due: (payment: StoredPayment) => boolean
}

/**
 * Polls the payments of a chain. Resolves the number of updates that changed a payment. Rejects when the store cannot
 * list them.
 */
export type AskChain = (chainId: number, signal?: AbortSignal) => Promise<number>

/**
 * Builds the polling of chains. A turn polls every payment of the chain, oldest first. It stops early when the source
 * cannot reach the chain, or when its signal aborts. Calls in flight are awaited.
 */
export function createAskChain(deps: AskChainDeps): AskChain {
  const { listUnsettled, batch, due } = deps
  // Where a turn stopped early. The next turn begins after that payment, so that a payment whose poll always fails
  // delays the later ones once, not for ever.
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
      const asked = await askAll(deps, payments.filter(due), signal)
      applied += asked.applied
      if (asked.endedAt !== undefined) endedAt.set(chainId, asked.endedAt)
      if (asked.endedAt !== undefined || signal?.aborted || payments.length < batch) return applied
      afterId = payments.at(-1)?.id
      payments = await page()
    }
  }
}

/**
 * Polls payments of one chain, some at once. `endedAt` is the last payment that was polled before the chain became
 * unreachable.
 */
async function askAll(deps: AskChainDeps, payments: readonly StoredPayment[], signal: AbortSignal | undefined) {
  const { lookup, logger } = deps
  let applied = 0
  let next = 0
  let reachable = true

  async function ask(payment: StoredPayment): Promise<void> {
    const { chainId, txHash } = payment
    try {
      const update = await lookup(payment, signal)
      if (update !== null && (await moves(deps, payment, update))) applied += 1
    } catch (error) {
      if (signal?.aborted) return
      const fields = { chainId, txHash, error: describeError(error) }
      if (!saysUnreachable(error)) logger.warn(fields, 'receipt not obtained')
      else if (reachable) logger.warn(fields, 'chain unreachable: its receipts are polled in the next round')
      if (saysUnreachable(error)) reachable = false
    }
  }
  async function work(): Promise<void> {
    while (reachable && !signal?.aborted) {
      const payment = payments[next]
      if (payment === undefined) return
      next += 1
      await ask(payment)
    }
  }
  await Promise.all(Array.from({ length: Math.min(deps.concurrency, payments.length) }, work))
  return { applied, endedAt: reachable ? undefined : payments[next - 1]?.id }
}

/** Applies an update. Resolves false when the payment is unchanged, or when the update failed, which is logged. */
async function moves(
  { applyUpdate, logger }: AskChainDeps,
  { chainId, txHash, version }: StoredPayment,
  update: ProcessorUpdate,
): Promise<boolean> {
  try {
    const result = await applyUpdate(update)
    // A repeated update gets its first answer.
    return result.outcome === 'applied' && result.version !== null && result.version > version
  } catch (error) {
    logger.warn({ chainId, txHash, error: describeError(error) }, 'receipt not applied')
    return false
  }
}

function saysUnreachable(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' && code.endsWith('_UNAVAILABLE')
}
