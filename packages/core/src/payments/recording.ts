/** Chooses the payments of a range that a store records. Source: docs/decisions/cells.md. @module */
import type { ServiceEvent } from '../events.js'
import type { ChainReads } from '../indexer/chain-store.js'
import type { UnrecordedRange } from '../integrations/integration.js'
import type { BlockRange } from '../ports/chain.js'
import type { StoreTransaction } from '../ports/store.js'
import type { PaymentFacts } from './payment.js'

/** Which payments a service records: all, or only those that name an integration of its store. */
export type Recording = 'all' | 'own'

type NamedPayment = Pick<PaymentFacts, 'txHash' | 'integrationAddress'>

const toPaymentKey = ({ txHash, integrationAddress }: NamedPayment) => `${txHash}:${integrationAddress}`

/**
 * Chooses payments and deposits that name an integration of the store, and payments that are `stored` or off the chain.
 * Call after `lockChain`: an integration registers under the locks of all chains, so all its later payments are chosen.
 */
export async function chooseRecorded(
  tx: Pick<StoreTransaction, 'registeredIntegrations' | 'offChainPayments'>,
  recording: Recording,
  { chainId, payments, deposits }: { readonly chainId: number } & Pick<BlockRange, 'payments' | 'deposits'>,
  stored: readonly NamedPayment[] = [],
): Promise<Pick<BlockRange, 'payments' | 'deposits'> & { readonly events: readonly ServiceEvent[] }> {
  if (recording === 'all' || payments.length + deposits.length === 0) return { payments, deposits, events: [] }
  const all = [...payments, ...deposits.map(({ payment }) => payment)]
  const registered = await findRegistered(tx, all)
  const isOwn = ({ integrationAddress: address }: PaymentFacts) => address !== null && registered.has(address)
  const storedPayments = payments.every(isOwn) ? [] : [...stored, ...(await tx.offChainPayments(chainId))]
  const keys = new Set(storedPayments.map(toPaymentKey))
  const chosen = {
    payments: payments.filter((each) => isOwn(each) || keys.has(toPaymentKey(each))),
    deposits: deposits.filter(({ payment }) => isOwn(payment)),
  }
  const count = all.length - chosen.payments.length - chosen.deposits.length
  return { ...chosen, events: count === 0 ? [] : [{ type: 'payments.skipped', chainId, count }] }
}

/** The integrations that the items name, as far as the store has them. */
export async function findRegistered(
  tx: Pick<StoreTransaction, 'registeredIntegrations'>,
  items: readonly { readonly integrationAddress?: string | null | undefined }[],
): Promise<ReadonlySet<string>> {
  const named = new Set(items.flatMap(({ integrationAddress }) => integrationAddress ?? []))
  return named.size === 0 ? named : tx.registeredIntegrations([...named])
}

/** Locks every chain, so that no range is recorded while an integration registers. Resolves the checkpoint heights. */
export async function lockRecording(
  tx: Pick<StoreTransaction, 'indexedChains' | 'shareChain' | 'checkpoints'>,
  followed: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const recordedTo = new Map<number, number>()
  const chainIds = new Set([...followed, ...(await tx.indexedChains())])
  for (const chainId of [...chainIds].sort((a, b) => a - b)) {
    await tx.shareChain(chainId)
    const [checkpoint] = await tx.checkpoints(chainId, Number.MAX_SAFE_INTEGER, 1)
    if (checkpoint !== undefined) recordedTo.set(chainId, checkpoint.blockNumber)
  }
  return recordedTo
}

/** The blocks to read again for an integration. `firstBlocks`: the first one, by chain. @default the first indexed */
export async function findUnrecordedRanges(
  chains: Pick<ChainReads, 'coverage'>,
  recordedTo: ReadonlyMap<number, number>,
  firstBlocks: ReadonlyMap<number, number> = new Map(),
): Promise<UnrecordedRange[]> {
  const ranges: UnrecordedRange[] = []
  for (const [chainId, to] of recordedTo) {
    const coverage = await chains.coverage(chainId)
    const from = firstBlocks.get(chainId) ?? Math.min(to, ...coverage.map((each) => each.from))
    if (from <= to) ranges.push({ chainId, from, to })
  }
  return ranges
}
