/** What the tests store: valid rows with a default for everything a test does not speak of. @module */
import type { ProcessorUpdate } from '@payment-integration/contract'
import type {
  AttemptDecision,
  AttemptRecord,
  ClaimedDelivery,
  DeliveryStatus,
  EndpointJudge,
  IntegrationRecord,
  NewPayment,
  NewSnapshot,
  NewUpdate,
  PageQuery,
  SettledAttempt,
  StoredUpdate,
  StoreTransaction,
} from '@payment-integration/core/internal'
import type { BridgeDeposit, PaymentFacts, PaymentStatus, Store, StoredPayment } from '@payment-integration/core/ports'

/** 0x and 64 hex digits, different for each number. */
export const hash = (n: number | bigint): string => `0x${n.toString(16).padStart(64, '0')}`
/** 0x and 40 hex digits, different for each number. */
export const address = (n: number | bigint): string => `0x${n.toString(16).padStart(40, '0')}`

/** The integration of tests with one. */
export const shop = address(0x5409)
/** Another integration, which must never see data of {@link shop}. */
export const otherShop = address(0x0743)

/** 2023-11-14T22:13:20Z. */
export const epoch = 1_700_000_000_000

/** Facts of a payment to {@link shop} on chain 1. */
export function facts(changes: Partial<PaymentFacts> = {}): PaymentFacts {
  return {
    chainId: 1,
    txHash: hash(1),
    ordinal: 0,
    logIndex: 7,
    blockNumber: 100,
    blockHash: hash(0xb100),
    blockTimestamp: epoch,
    router: { address: address(0xa0), version: '0.8' },
    sender: address(0x5e),
    receiver: address(0x4e),
    memoHex: `0x${'00'.repeat(32)}`,
    integrationAddress: shop,
    source: { chainId: 10, txHash: hash(0x50) },
    tokenIn: { address: address(0x10), symbol: 'USDC', decimals: 6, amount: 1_000_000n },
    tokenOut: { address: address(0x11), symbol: 'DAI', decimals: 18, gross: 10n ** 18n, net: 998n * 10n ** 15n },
    pricing: { listedToken: { symbol: 'DAI', currency: 'USD' }, feeds: [], calledAmount: null, serviceFee: null },
    ...changes,
  }
}

/** Facts as an area (a) payment. */
export const primary = (changes: Partial<PaymentFacts> = {}): NewPayment => ({ facts: facts(changes), primary: true })

/** A deposit on chain 1 for chain 10. */
export function deposit(changes: Partial<PaymentFacts> = {}, rest: Partial<BridgeDeposit> = {}): BridgeDeposit {
  return {
    payment: facts(changes),
    bridge: 'bridge',
    depositId: '7',
    destinationChainId: 10,
    receiver: address(0x4e),
    output: { token: address(0x12), amount: 997n * 10n ** 15n },
    ...rest,
  }
}

/** A registered integration with a notification URL. */
export function integration(changes: Partial<IntegrationRecord> = {}): IntegrationRecord {
  const { address: own = shop } = changes
  return {
    address: own,
    name: 'Shop',
    // A server per integration.
    notificationUrl: own === shop ? 'https://shop.example/hook' : `https://${own}.example/hook`,
    enabled: true,
    apiSecret: { keyVersion: 1, hash: 'ab'.repeat(32) },
    previousApiSecret: null,
    signingSecret: { keyVersion: 1, sealed: 'c2VhbGVk' },
    preparedSigningSecret: null,
    previousSigningSecret: null,
    createdAt: epoch,
    ...changes,
  }
}

/** Stores an integration; false if its address is taken. */
export const insertIntegration = (store: Store, record = integration()): Promise<boolean> =>
  store.transaction((tx) => tx.integrations.insert(record))

/** Changes an integration, as `update` of a transaction. */
export const updateIntegration = (
  store: Store,
  ...change: Parameters<StoreTransaction['integrations']['update']>
): Promise<IntegrationRecord | null> => store.transaction((tx) => tx.integrations.update(...change))

const encoder = new TextEncoder()
/** The body of a version: different for each, and not plain ASCII. */
export const makeBody = (paymentId: string, version: number): Uint8Array =>
  encoder.encode(`{"payment":"${paymentId}","version":${version},"title":"Käse \u{1f9c0}"}`)

/** A snapshot of a payment. */
export function makeSnapshot(
  { id, integrationAddress, chainId, txHash }: StoredPayment,
  version: number,
  body = makeBody(id, version),
): NewSnapshot {
  return { paymentId: id, version, body, integrationAddress, chainId, txHash }
}

/** Stores payments with their first snapshot, as indexing does. */
export async function indexPayments(
  tx: StoreTransaction,
  payments: readonly NewPayment[],
): Promise<readonly StoredPayment[]> {
  const { inserted } = await tx.upsertPayments(payments)
  await tx.insertSnapshots(inserted.map((payment) => makeSnapshot(payment, 1)))
  return inserted
}

/** Payments with the hashes from `from` on. */
export const numbered = (count: number, from = 0, changes: Partial<PaymentFacts> = {}): NewPayment[] =>
  Array.from({ length: count }, (_, n) => primary({ txHash: hash(from + n), ...changes }))

/** Stores payments with their first snapshots, in a transaction. */
export const indexAll = (store: Store, payments: readonly NewPayment[]): Promise<readonly StoredPayment[]> =>
  store.transaction((tx) => indexPayments(tx, payments))

/** Stores one payment with its first snapshot, in a transaction. */
export async function indexed(store: Store, changes: Partial<PaymentFacts> = {}): Promise<StoredPayment> {
  const [payment] = await indexAll(store, [primary(changes)])
  if (payment === undefined) throw new Error('The payment was stored before.')
  return payment
}

/** The newest payments of {@link shop}, up to 100. */
export async function listed(store: Store, query: Partial<PageQuery> = {}): Promise<readonly StoredPayment[]> {
  return (await store.payments.list({ integrationAddress: shop, limit: 100, ...query })).payments
}

/** The first payment of a transaction of chain 1 or the given one, locked for a change. */
export async function lockPayment(tx: StoreTransaction, txHash: string, chainId = 1): Promise<StoredPayment> {
  const [payment] = await tx.paymentsForChange({ chainId, txHash })
  if (payment === undefined) throw new Error('The payment is not stored.')
  return payment
}

/** Gives a payment its next version, with its snapshot. */
export async function nextVersion(store: Store, { chainId, txHash, integrationAddress }: PaymentFacts) {
  return store.transaction(async (tx) => {
    const payment = await lockPayment(tx, txHash, chainId)
    const version = payment.version + 1
    await setStatus(tx, payment.id, getStatus(version))
    await tx.insertSnapshots([makeSnapshot({ ...payment, integrationAddress }, version)])
    return version
  })
}

/** A status of a version. */
export function getStatus(version: number, changes: Partial<PaymentStatus> = {}): PaymentStatus {
  return { version, state: 'pending', recipient: null, invoice: null, ...changes }
}

/** An update about the payment of {@link facts}. */
export function update(changes: Partial<ProcessorUpdate> = {}): ProcessorUpdate {
  return { id: 'update-1', chainId: '1', txHash: hash(1), state: 'success', ...changes }
}

/** An attempt that was answered with 204. */
export const answered: AttemptRecord = {
  startedAt: epoch,
  latencyMs: 30,
  status: 204,
  reason: null,
  excerpt: null,
  replay: false,
}
/** An attempt that ended in a 500. */
export const failed = { ...answered, latencyMs: 12.5, status: 500, reason: 'status_500', excerpt: 'Oops' }

/** Never changes the health of endpoints. */
export const indifferent: EndpointJudge = (before) => ({ ...before, blockMs: null })

/** The endpoint of an integration that {@link integration} made. */
export const endpoint = (own: string): string => (own === shop ? 'shop.example:443' : `${own}.example:443`)

/** Settles one claim, without effect on the endpoint's health. */
export async function settleOne(
  store: Store,
  claim: SettledAttempt['claim'],
  attempt: AttemptRecord,
  verdict: AttemptDecision,
): Promise<DeliveryStatus | 'locked' | null> {
  const { statuses } = await store.deliveries.settle([{ claim, attempt, verdict }], indifferent)
  return statuses[0] ?? null
}

/** Claims one delivery, which must be due. */
export async function claimOne(store: Store, leaseMs = 60_000): Promise<ClaimedDelivery> {
  const [claim] = await store.deliveries.claim({ limit: 1, leaseMs })
  if (claim === undefined) throw new Error('No delivery is due.')
  return claim
}

type Claim = ClaimedDelivery
/** Claims as many deliveries as asked, up to eight, which must be due. */
export async function claimSome(store: Store, count: number) {
  const claims = await store.deliveries.claim({ limit: count, leaseMs: 60_000 })
  if (claims.length < count) throw new Error(`Only ${claims.length} of ${count} deliveries are due.`)
  return claims as unknown as readonly [Claim, Claim, Claim, Claim, Claim, Claim, Claim, Claim]
}

/** Writes one status. */
export function setStatus(tx: StoreTransaction, paymentId: string, status: PaymentStatus): Promise<void> {
  return tx.setStatuses(new Map([[paymentId, status]]))
}

/** The update stored under an id, or null. */
export async function findUpdate(tx: StoreTransaction, updateId: string): Promise<StoredUpdate | null> {
  return (await tx.findUpdates([updateId]))[0] ?? null
}

/** An update that waits for the payment of {@link facts}, to store. */
export function waiting(changes: Partial<ProcessorUpdate> = {}): NewUpdate {
  return {
    update: update(changes),
    fingerprint: `0x${'f1'.repeat(16)}`,
    paymentId: null,
    outcome: 'waiting',
    reason: null,
    version: null,
  }
}

/** An update that was decided on a payment. */
export function decided(
  { id, version }: Pick<StoredPayment, 'id' | 'version'>,
  changes: Partial<NewUpdate> = {},
): NewUpdate {
  return { ...waiting(), paymentId: id, outcome: 'applied', version, ...changes }
}

/** Stores one update; false if its id is stored already. */
export async function insertUpdate(tx: StoreTransaction, stored: NewUpdate): Promise<boolean> {
  return (await tx.insertUpdates([stored])).length === 1
}

/** The order of pages, newest first by (blockTimestamp, chainId, txHash). Source: docs/interface.md 4.1. */
export function newestFirst(a: PaymentFacts, b: PaymentFacts): number {
  if (a.blockTimestamp !== b.blockTimestamp) return b.blockTimestamp - a.blockTimestamp
  if (a.chainId !== b.chainId) return b.chainId - a.chainId
  return a.txHash < b.txHash ? 1 : a.txHash > b.txHash ? -1 : 0
}
