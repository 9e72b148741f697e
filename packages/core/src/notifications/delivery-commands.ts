/** Lists, replays and tests deliveries for operators. See docs/decisions/retries.md, operators.md. @module */
import { deliveryTimeoutMs } from '@payment-integration/contract'
import { DeliveryError, IntegrationError } from '../errors.js'
import { type CommandDeps, recordNote, redactUrl } from '../history/audit-log.js'
import type { IntegrationStore } from '../integrations/integration.js'
import { parseAddress, parseTxHash } from '../internal/parameters.js'
import { assertWhole } from '../internal/values.js'
import { buildSnapshotBytes } from '../payments/change-status.js'
import { initialStatus } from '../payments/payment.js'
import type { Sender } from '../ports/runtime.js'
import { openSecret } from '../secrets/seal.js'
import { buildDeliveryHeaders, toPostRecord } from './attempt.js'
import type { AttemptRecord, DeliveryFilter, DeliveryStore, DeliveryView } from './delivery-store.js'

interface PartsOptions<Totals> {
  /** Called after each part with the numbers so far. */
  readonly onProgress?: ((done: Totals) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

export interface DeliveryCommands extends Pick<DeliveryStore, 'count' | 'endpoints'> {
  /** Matching deliveries, oldest first. @throws InvalidParameterError `ERR_ADDRESS_INVALID`, `ERR_TX_HASH_INVALID`. */
  readonly list: DeliveryStore['list']
  /** @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`. */
  find(deliveryId: string): Promise<DeliveryView>
  /**
   * Makes one delivery of any status due now, as a replay. `scope`: deliveries of other integrations are not found.
   * @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`; `ERR_DELIVERY_IN_FLIGHT` while it is leased;
   * `ERR_DELIVERY_ENDED` when its retention has ended.
   */
  replay(deliveryId: string, scope?: { readonly integrationAddress?: string | undefined }): Promise<DeliveryView>
  /**
   * Makes every matching delivery due, until `signal` aborts, in parts that are committed with their audit record.
   * @throws RangeError For a filter without a status: replays of delivered deliveries must be explicit.
   */
  replayAll(filter: DeliveryFilter, options?: PartsOptions<ReplayTotals>): Promise<ReplayTotals>
  /**
   * Counts missing deliveries, newest first and in parts, until `signal` aborts. With `repair` it makes them due again
   * as replays, and each part has its audit record. Source: docs/decisions/retries.md.
   */
  check(options?: PartsOptions<CheckTotals> & { readonly repair?: boolean | undefined }): Promise<CheckTotals>
}

export interface CheckTotals {
  /** Versions of payments, with or without a delivery. */
  readonly examined: number
  readonly missing: number
  /** Missing deliveries that are due again. */
  readonly requeued: number
}

/** A signed POST without a payment, and its answer. Only its audit record is stored. */
export interface SentTest extends Omit<AttemptRecord, 'replay'> {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The signed bytes as text. */
  readonly body: string
}

export interface EndpointCommands {
  /**
   * Posts a signed sample to the notification URL: a payment without a state or an amount, and with a made-up hash. It
   * changes neither the outbox nor the endpoint's health. Source: docs/decisions/operators.md.
   * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`, `ERR_NO_NOTIFICATION_URL`, `ERR_TEST_IN_FLIGHT`;
   * SealedSecretError `ERR_SECRET_UNREADABLE`.
   */
  sendTest(address: string): Promise<SentTest>
}

export interface ReplayTotals {
  readonly replayed: number
  /** Deliveries that were skipped because their attempt was in flight. */
  readonly inFlight: number
}

/** The chain id of local test chains: none of them has money. */
const sampleChainId = 31_337
/** Begins with `0x7e57`, like "test", and ends with zeros: no transaction has it. */
const sampleTxHash = `0x7e57${'0'.repeat(60)}`

/**
 * Has neither state nor invoice, so no receiver takes it for a paid invoice. The version rises, so that no receiver
 * ignores a later test as a duplicate.
 */
function buildSampleBody(integrationAddress: string, now: number): Uint8Array {
  const version = Math.max(1, Math.floor(now / 1_000))
  const recipient = { title: 'Test delivery', subtitle: 'This is no payment.' }
  return buildSnapshotBytes(
    { integrationAddress, chainId: sampleChainId, txHash: sampleTxHash },
    { ...initialStatus, state: null, invoice: null, recipient, version },
  )
}

interface EndpointDeps extends Pick<CommandDeps, 'audited' | 'keys' | 'clock'> {
  readonly integrations: Pick<IntegrationStore, 'find'>
  readonly sender: Sender
  /** When an integration may send its next test, in unix milliseconds: infinite while one is in flight. */
  readonly nextTestAt: Map<string, number>
}

/** Time between the starts of two tests of an integration, in milliseconds: each makes an audit record. */
const testPauseMs = 5_000

export function createEndpointCommands(deps: EndpointDeps): EndpointCommands {
  const { integrations, audited, keys, clock, sender, nextTestAt } = deps

  async function send(address: string) {
    const record = await integrations.find(address)
    if (record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
    const url = record.notificationUrl
    if (url === null) throw new IntegrationError('ERR_NO_NOTIFICATION_URL', address)
    const secret = openSecret(keys, address, record.signingSecret)
    // Recorded before it is sent, so that a record explains every request.
    const details = { url: redactUrl(keys.current, url) }
    await recordNote(audited, { action: 'integration.test_sent', subject: address, details })
    const body = buildSampleBody(address, clock.now())
    const headers = await buildDeliveryHeaders({ integrationAddress: address, body }, secret, clock.now())
    const startedAt = clock.now()
    const result = await sender.post({ url, headers, body, timeoutMs: deliveryTimeoutMs })
    return { url, headers, body: new TextDecoder().decode(body), ...toPostRecord({ startedAt, result }) }
  }

  return {
    async sendTest(input) {
      const address = parseAddress(input)
      const now = clock.now()
      const waitMs = (nextTestAt.get(address) ?? 0) - now
      // A longer wait than the pause means that the clock was set back; the test is then allowed.
      if (waitMs === Number.POSITIVE_INFINITY || (waitMs > 0 && waitMs <= testPauseMs))
        throw new IntegrationError('ERR_TEST_IN_FLIGHT', address)
      nextTestAt.set(address, Number.POSITIVE_INFINITY)
      try {
        const sent = await send(address)
        nextTestAt.set(address, now + testPauseMs)
        return sent
      } catch (error) {
        nextTestAt.delete(address)
        throw error
      }
    },
  }
}

interface DeliveryDeps extends Pick<CommandDeps, 'audited'> {
  readonly deliveries: Pick<DeliveryStore, 'list' | 'count' | 'newestId' | 'find' | 'findMissing' | 'endpoints'>
  /** Called after a commit that made deliveries due. */
  readonly onDue: () => void
}

/** The most deliveries in one transaction of a replay. */
const replayPartSize = 1_000
/** Age in milliseconds from which an open database snapshot is reported: claims have slowed down by then. */
export const oldSnapshotMs = 300_000
/** Versions in one statement of a check, and in one transaction of its repair. */
const checkPartSize = 5_000

export function createDeliveryCommands({ deliveries, audited, onDue }: DeliveryDeps): DeliveryCommands {
  async function find(deliveryId: string) {
    const view = await deliveries.find(deliveryId)
    if (view === null) throw new DeliveryError('ERR_DELIVERY_NOT_FOUND', deliveryId)
    return view
  }

  async function findReplayRejection(deliveryId: string, { integrationAddress }: ParsedFilter) {
    const view = await deliveries.find(deliveryId)
    const isOwn = view !== null && (integrationAddress ?? view.integrationAddress) === view.integrationAddress
    return isOwn ? 'ERR_DELIVERY_ENDED' : 'ERR_DELIVERY_NOT_FOUND'
  }

  /** Makes missing deliveries due again, those with ids above `afterId` and below `beforeId`. */
  async function requeue(afterId: string, beforeId: string | undefined): Promise<number> {
    const upToId = beforeId === undefined ? undefined : String(Number(beforeId) - 1)
    const requeued = await audited(async (tx, note) => {
      const request = { status: 'missing', afterId, upToId, limit: checkPartSize } as const
      const { replayed, lastId: through } = await tx.replayDeliveries(request)
      const details = { status: 'missing', replayed, from: Number(afterId) + 1, through }
      if (replayed > 0) note({ action: 'deliveries.replayed', subject: 'all', details })
      return replayed
    })
    if (requeued > 0) onDue()
    return requeued
  }

  return {
    find,
    async list({ afterId, limit, ...filter }) {
      assertWhole('limit', limit, 1)
      return deliveries.list({ ...parseFilter(filter), afterId, limit })
    },
    count: async (filter, options) => deliveries.count(parseFilter(filter), options),
    async replay(deliveryId, { integrationAddress } = {}) {
      const scope = parseFilter({ integrationAddress })
      const { replayed, inFlight } = await audited(async (tx, note) => {
        const result = await tx.replayDeliveries({ ...scope, deliveryId, limit: 1 })
        if (result.replayed > 0)
          note({ action: 'deliveries.replayed', subject: deliveryId, details: { replayed: result.replayed } })
        return result
      })
      if (inFlight > 0) throw new DeliveryError('ERR_DELIVERY_IN_FLIGHT', deliveryId)
      if (replayed === 0) throw new DeliveryError(await findReplayRejection(deliveryId, scope), deliveryId)
      onDue()
      return find(deliveryId)
    },
    async replayAll(filterInput, { onProgress, signal } = {}) {
      if (filterInput.status === undefined)
        throw new RangeError('replayAll needs a status; pass "delivered" to send delivered ones once more.')
      const filter = parseFilter(filterInput)
      const totals = { replayed: 0, inFlight: 0 }
      // Deliveries created or replayed from here on are not replayed.
      const upToId = await deliveries.newestId(filter)
      if (upToId === null) return totals
      const replayAfter = (afterId: string | undefined) =>
        audited(async (tx, note) => {
          const result = await tx.replayDeliveries({ ...filter, afterId, upToId, limit: replayPartSize })
          const { replayed, inFlight, lastId: through } = result
          if (through !== null)
            note({ action: 'deliveries.replayed', subject: 'all', details: { ...filter, replayed, inFlight, through } })
          return result
        })
      let afterId: string | undefined
      while (!signal?.aborted) {
        const part = await replayAfter(afterId)
        if (part.lastId === null) break
        afterId = part.lastId
        totals.replayed += part.replayed
        totals.inFlight += part.inFlight
        if (part.replayed > 0) onDue()
        onProgress?.({ ...totals })
        if (part.replayed + part.inFlight < replayPartSize) break
      }
      return totals satisfies ReplayTotals
    },
    async check({ repair = false, onProgress, signal } = {}) {
      const totals = { examined: 0, missing: 0, requeued: 0 }
      let beforeId: string | undefined
      while (!signal?.aborted) {
        const { examined, missing, lowestId } = await deliveries.findMissing({ beforeId, limit: checkPartSize })
        totals.examined += examined
        totals.missing += missing
        if (repair && missing > 0 && lowestId !== null)
          totals.requeued += await requeue(String(Number(lowestId) - 1), beforeId)
        onProgress?.({ ...totals })
        if (examined < checkPartSize || lowestId === null) break
        beforeId = lowestId
      }
      return totals satisfies CheckTotals
    },
    endpoints: (options) => deliveries.endpoints(options),
  }
}

type ParsedFilter = { [Name in keyof DeliveryFilter]: Exclude<DeliveryFilter[Name], undefined> }

/** Returns the given fields in the store's format, and no others: replays record them. */
function parseFilter({ integrationAddress, chainId, txHash, status, since, until }: DeliveryFilter): ParsedFilter {
  for (const [name, at] of Object.entries({ since, until }))
    if (at !== undefined && !Number.isFinite(at))
      throw new RangeError(`${name} is ${at}; pass unix time in milliseconds.`)
  return {
    ...(integrationAddress !== undefined && { integrationAddress: parseAddress(integrationAddress) }),
    ...(chainId !== undefined && { chainId }),
    ...(txHash !== undefined && { txHash: parseTxHash(txHash) }),
    ...(status !== undefined && { status }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  }
}
