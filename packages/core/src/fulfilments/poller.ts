/**
 * Polls a source for fulfilments of bridge deposits. Source: docs/interface.md 2.1 (source);
 * docs/decisions/cross-chain.md.
 * @module
 */
import type { ServiceEvent } from '../events.js'
import { assertWhole } from '../internal/assert-whole.js'
import { describeError } from '../internal/describe-error.js'
import type { FulfilmentSource } from '../ports/fulfilment.js'
import type { Store } from '../ports/store.js'
import type { WaitingDeposit } from '../ports/store-chains.js'
import type { Clock, Logger } from '../ports/world.js'
import type { FulfilmentPoller } from '../service-types.js'
import { unfitFulfilment } from './fulfilled-payment.js'
import { recordFulfilment } from './record-fulfilment.js'

/** When the poller polls. */
export interface FulfilmentPollerOptions {
  /** Time from the end of one round to the next, in milliseconds. @default 5000 */
  readonly everyMs?: number | undefined
  /** Deposits read from the store at a time. @default 100 */
  readonly batch?: number | undefined
  /** Deposits polled at once. @default 8 */
  readonly concurrency?: number | undefined
}

/** The defaults of {@link FulfilmentPollerOptions}. */
export const fulfilmentPollerDefaults = { everyMs: 5_000, batch: 100, concurrency: 8 } as const

/** The dependencies of a poller. */
export interface FulfilmentPollerDeps {
  readonly store: {
    readonly transaction: Store['transaction']
    readonly chains: Pick<Store['chains'], 'waitingDeposits'>
  }
  readonly source: FulfilmentSource
  /** The chains that are indexed here: a payment to one of them is recorded after its block. @default none */
  readonly followed?: ReadonlySet<number> | undefined
  readonly publish: (event: ServiceEvent) => void
  readonly clock: Clock
  readonly logger: Logger
  readonly options?: FulfilmentPollerOptions | undefined
}

/**
 * Builds a poller. A deposit whose poll or record fails, or whose fulfilment does not fit it, is logged and polled
 * again in the next round; the others continue. Destinations that the source cannot reach rest until the next round.
 * `runOnce` rejects with the store's error when deposits cannot be listed. `run` never rejects and starts a round at
 * once; when its signal aborts, it completes the deposits in flight.
 *
 * @throws RangeError When an option is out of range.
 */
export function createFulfilmentPoller(deps: FulfilmentPollerDeps): FulfilmentPoller {
  const { store, clock, logger } = deps
  const {
    everyMs = fulfilmentPollerDefaults.everyMs,
    batch = fulfilmentPollerDefaults.batch,
    concurrency = fulfilmentPollerDefaults.concurrency,
  } = deps.options ?? {}
  assertWhole('everyMs', everyMs, 1)
  assertWhole('batch', batch, 1)
  assertWhole('concurrency', concurrency, 1)

  async function runOnce(signal?: AbortSignal): Promise<number> {
    const unreachable = new Set<number>()
    let recorded = 0
    let afterId: string | undefined
    while (!signal?.aborted) {
      const page = await store.chains.waitingDeposits({ afterId, limit: batch })
      recorded += await askAll(deps, page, concurrency, unreachable, signal)
      if (page.length < batch) break
      afterId = page.at(-1)?.id
    }
    return recorded
  }

  return {
    runOnce,
    async run(signal) {
      while (!signal.aborted) {
        try {
          await runOnce(signal)
        } catch (error) {
          logger.error({ error: describeError(error) }, 'waiting deposits not listed')
        }
        await clock.sleep(everyMs, signal)
      }
    },
  }
}

/** Polls deposits, some at once. Resolves how many were recorded; never rejects. */
async function askAll(
  deps: FulfilmentPollerDeps,
  page: readonly WaitingDeposit[],
  concurrency: number,
  unreachable: Set<number>,
  signal: AbortSignal | undefined,
): Promise<number> {
  let recorded = 0
  let next = 0
  async function work(): Promise<void> {
    while (!signal?.aborted) {
      const waiting = page[next]
      if (waiting === undefined) return
      next += 1
      const { destinationChainId } = waiting.deposit
      if (unreachable.has(destinationChainId)) continue
      try {
        if (await ask(deps, waiting, signal)) recorded += 1
      } catch (error) {
        if (signal?.aborted) return
        if (saysUnreachable(error)) unreachable.add(destinationChainId)
        deps.logger.warn({ ...nameOf(waiting), error: describeError(error) }, 'fulfilment not obtained')
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, page.length) }, work))
  return recorded
}

/** Resolves whether a payment was recorded. */
async function ask(deps: FulfilmentPollerDeps, waiting: WaitingDeposit, signal?: AbortSignal): Promise<boolean> {
  const { store, source, followed, publish, logger } = deps
  const { deposit } = waiting
  const fulfilment = await source.lookup(deposit, signal)
  if (fulfilment === null) return false
  const flaw = unfitFulfilment(deposit, fulfilment)
  if (flaw !== null) {
    logger.error({ ...nameOf(waiting), flaw }, 'a fulfilment does not fit its deposit')
    return false
  }
  const isFollowed = followed?.has(deposit.destinationChainId) ?? false
  const events = await recordFulfilment(store, { waiting, fulfilment, isFollowed })
  if (events === null) return false
  events.forEach(publish)
  return true
}

function nameOf({ deposit }: WaitingDeposit) {
  const { payment, bridge, depositId, destinationChainId } = deposit
  return { chainId: payment.chainId, txHash: payment.txHash, bridge, depositId, destinationChainId }
}

function saysUnreachable(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_CHAIN_UNAVAILABLE'
}
