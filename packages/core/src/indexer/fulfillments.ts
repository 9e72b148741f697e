/** Polls for fulfillments of deposits, and commits payments. Source: docs/decisions/cross-chain.md. @module */
import type { EventSink, ServiceEvent } from '../events.js'
import { assertWhole, describeError, type Poller, type PollerOptions, runConcurrently } from '../internal/values.js'
import type { PaymentFacts, StoredPayment } from '../payments/payment.js'
import { storePayments } from '../payments/store-payments.js'
import type { BridgeDeposit, Fulfillment, FulfillmentSource } from '../ports/chain.js'
import type { Clock, Logger } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import type { WaitingDeposit } from './chain-store.js'

/** Ordinals of fulfillments begin here; a router numbers the payments of the same transaction from 0. */
export const firstFulfillmentOrdinal = 1_000_000
/** Far more than the logs of any transaction. The ordinal of such a position still fits 32 bits. */
const maxPosition = 1_000_000_000

/**
 * Payer, paid token, memo and integration come from the source chain, the received amount from the destination. Rates
 * of the source chain do not apply to the received token.
 */
function buildFulfilledPayment({ payment }: BridgeDeposit, fulfillment: Fulfillment): PaymentFacts {
  const { chainId, txHash, logIndex, position, blockNumber, blockHash, blockTimestamp, receiver } = fulfillment
  const { amount, ...token } = fulfillment.tokenOut
  return {
    ...payment,
    chainId,
    txHash,
    ordinal: firstFulfillmentOrdinal + position,
    logIndex,
    blockNumber,
    blockHash,
    blockTimestamp,
    receiver,
    source: { chainId: payment.chainId, txHash: payment.txHash },
    tokenOut: { ...token, gross: amount, net: amount },
    pricing: { listedToken: fulfillment.listedToken, feeds: [], calledAmount: null, serviceFee: null },
  }
}

/** A fulfillment must pay the promised amount and token to the receiver of the deposit, on the promised chain. */
function findFulfillmentFlaw(deposit: BridgeDeposit, fulfillment: Fulfillment): string | null {
  const { chainId, receiver, tokenOut, position } = fulfillment
  if (chainId !== deposit.destinationChainId) return 'it is on another chain than the deposit names'
  if (receiver !== deposit.receiver) return 'it paid another receiver than the deposit names'
  if (tokenOut.address !== deposit.output.token) return 'it paid another token than the deposit names'
  if (tokenOut.amount < deposit.output.amount) return 'it paid less than the deposit names'
  const isPosition = Number.isInteger(position) && position >= 0 && position <= maxPosition
  return isPosition ? null : `its position is no whole number from 0 to ${maxPosition}`
}

/**
 * The ordinal of a fulfilled payment. A stored payment of the deposit keeps its ordinal: after a reorg the transaction
 * may have other logs. Null: the position is that of another payment.
 */
function findOrdinal(facts: PaymentFacts, storedPayments: readonly StoredPayment[]): number | null {
  const isOtherLog = (row: StoredPayment) =>
    !row.offChain && row.blockHash === facts.blockHash && row.logIndex !== facts.logIndex
  const depositPayments = storedPayments.filter(
    (row) =>
      row.source.chainId === facts.source.chainId &&
      row.source.txHash === facts.source.txHash &&
      row.integrationAddress === facts.integrationAddress &&
      row.receiver === facts.receiver &&
      row.memoHex === facts.memoHex &&
      row.tokenOut.address === facts.tokenOut.address &&
      !isOtherLog(row),
  )
  const isAtPosition = ({ ordinal }: StoredPayment) => ordinal === facts.ordinal
  const stored = depositPayments.find(isAtPosition) ?? depositPayments[0]
  if (stored !== undefined) return stored.ordinal
  return storedPayments.some(isAtPosition) ? null : facts.ordinal
}

type Recorded = { readonly events: readonly ServiceEvent[] } | { readonly flaw: string }

/**
 * Settles a deposit and records its payment in one transaction. With a flaw or null nothing was written; null: the
 * deposit no longer waits, or the block is orphaned or not indexed yet. On a followed chain the indexer comes first: a
 * router may have paid in the same transaction, and only one of these payments is primary.
 */
async function recordFulfillment(
  store: Pick<Store, 'transaction'>,
  waiting: WaitingDeposit,
  fulfillment: Fulfillment,
  isFollowed: boolean,
): Promise<Recorded | null> {
  const { chainId, txHash, blockNumber } = fulfillment
  return store.transaction(async (tx) => {
    const checkpoint = await tx.lockChain(chainId)
    if (isFollowed && (checkpoint === null || checkpoint.blockNumber < blockNumber)) return null
    // The node of the fulfillment source may still show an orphaned block.
    const [indexedBlock] = isFollowed ? await tx.checkpoints(chainId, blockNumber, 1) : []
    if (indexedBlock?.blockNumber === blockNumber && indexedBlock.blockHash !== fulfillment.blockHash) return null
    const facts = buildFulfilledPayment(waiting.deposit, fulfillment)
    const primaryPayments = await tx.paymentsForChange({ chainId, txHash })
    const blockPayments = await tx.paymentsInBlocks(chainId, blockNumber, blockNumber)
    const transactionPayments = blockPayments.filter((row) => row.txHash === txHash)
    const ordinal = findOrdinal(facts, [...primaryPayments, ...transactionPayments])
    if (ordinal === null) return { flaw: 'its position is that of another payment of the transaction' }
    if (!(await tx.settleDeposit(waiting.id))) return null
    const primary = primaryPayments.every(({ integrationAddress }) => integrationAddress !== facts.integrationAddress)
    return { events: await storePayments(tx, [{ facts: { ...facts, ordinal }, primary }]) }
  })
}

interface FulfillmentPollerDeps extends PollerOptions {
  readonly store: Pick<Store, 'transaction'> & { readonly chains: Pick<Store['chains'], 'waitingDeposits'> }
  readonly source: FulfillmentSource
  /** Chains that are indexed here: a payment to one of them is recorded after its block is indexed. @default none */
  readonly followed?: ReadonlySet<number> | undefined
  readonly publish: EventSink
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * A deposit whose poll or recording fails, or whose fulfillment does not match, is logged and polled again in the next
 * round. Deposits to an unreachable chain wait for the next round.
 */
export function createFulfillmentPoller(deps: FulfillmentPollerDeps): Poller {
  const { store, source, followed, publish, clock, logger, everyMs = 5_000, batch = 100, concurrency = 8 } = deps
  for (const [name, value] of Object.entries({ everyMs, batch, concurrency })) assertWhole(name, value, 1)

  async function runOnce(signal?: AbortSignal): Promise<number> {
    const unreachable = new Set<number>()
    let count = 0
    async function poll(waiting: WaitingDeposit): Promise<void> {
      const { deposit } = waiting
      const { payment, bridge, depositId, destinationChainId } = deposit
      const fields = { chainId: payment.chainId, txHash: payment.txHash, bridge, depositId, destinationChainId }
      if (unreachable.has(destinationChainId)) return
      try {
        const fulfillment = await source.lookup(deposit, signal)
        if (fulfillment === null) return
        const isFollowed = followed?.has(destinationChainId) ?? false
        const flaw = findFulfillmentFlaw(deposit, fulfillment)
        const recorded = flaw === null ? await recordFulfillment(store, waiting, fulfillment, isFollowed) : { flaw }
        if (recorded === null) return
        if ('flaw' in recorded)
          return logger.error({ ...fields, ...recorded }, 'a fulfillment does not fit its deposit')
        count += 1
        recorded.events.forEach(publish)
      } catch (error) {
        if (signal?.aborted) return
        const { code } = (error ?? {}) as { code?: unknown }
        if (code === 'ERR_CHAIN_UNAVAILABLE') unreachable.add(destinationChainId)
        logger.warn({ ...fields, error: describeError(error) }, 'fulfillment not obtained')
      }
    }

    let afterId: string | undefined
    while (!signal?.aborted) {
      const page = await store.chains.waitingDeposits({ afterId, limit: batch })
      await runConcurrently(page, concurrency, () => !signal?.aborted, poll)
      if (page.length < batch) break
      afterId = page.at(-1)?.id
    }
    return count
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
