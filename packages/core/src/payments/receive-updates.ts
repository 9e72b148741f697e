/** Authenticates updates, and applies them together. Source: docs/decisions/processor-updates.md. @module */
import { type ProcessorUpdate, processorUpdateSchema, processorUpdatesSchema } from '@payment-integration/contract'
import { formatUnreadableJson } from '@payment-integration/contract/internal'
import { assertModestJson } from '@payment-integration/contract/internal-io'
import { verifySignature, WebhookError } from '@payment-integration/webhook'
import { StoreError } from '../errors.js'
import { findDuplicateKey } from '../internal/values.js'
import type { Clock } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import type { UpdateOutcomes } from './apply-updates.js'

/** The most updates in one transaction. */
export const maxUpdatesPerCommit = 100
/** The most updates that wait for a transaction: some seconds of work. */
export const maxQueuedUpdates = 2_000
/** Concurrent transactions: one is filled while the other waits for the disk. */
const concurrency = 2
/** A failed transaction is repeated request by request; after this many failures the other requests are rejected. */
const maxFailures = 2

interface QueuedRequest {
  readonly updates: readonly ProcessorUpdate[]
  resolve(outcomes: UpdateOutcomes): void
  reject(error: unknown): void
}

/** Applies the updates of one request, at most {@link maxUpdatesPerCommit}, in their order and in one transaction. */
export type UpdateQueue = (updates: readonly ProcessorUpdate[]) => Promise<UpdateOutcomes>

/**
 * Builds the queue. A request is applied at once while fewer than two transactions run; others wait, and share the next
 * transaction. A shared transaction that fails is repeated for each request alone. `assertNotNested` is the store's: a
 * request inside a host's own transaction could wait for another one that waits for that transaction.
 */
export function createUpdateQueue(apply: UpdateQueue, assertNotNested: Store['assertNotNested']): UpdateQueue {
  const queue: QueuedRequest[] = []
  let queuedUpdates = 0
  let running = 0

  /** Resolves whether applying the requests together failed with a StoreError. */
  async function applyTogether(requests: readonly QueuedRequest[]): Promise<boolean> {
    try {
      const outcomes = [...(await apply(requests.flatMap(({ updates }) => updates)))]
      for (const { updates, resolve } of requests) resolve(outcomes.splice(0, updates.length))
      return false
    } catch (error) {
      if (requests.length > 1 && !affectsAllRequests(error)) await applyEach(requests)
      else for (const { reject } of requests) reject(error)
      return error instanceof StoreError
    }
  }

  async function applyEach(requests: readonly QueuedRequest[]): Promise<void> {
    let failures = 0
    for (const request of requests) {
      if (failures >= maxFailures) request.reject(createBusyError())
      else if (await applyTogether([request])) failures += 1
    }
  }

  function takeBatch(): QueuedRequest[] {
    let [requestCount, updateCount] = [0, 0]
    for (const { updates } of queue) {
      if (requestCount > 0 && updateCount + updates.length > maxUpdatesPerCommit) break
      updateCount += updates.length
      requestCount += 1
    }
    queuedUpdates -= updateCount
    return queue.splice(0, requestCount)
  }

  async function applyQueued(): Promise<void> {
    running += 1
    while (queue.length > 0) await applyTogether(takeBatch())
    running -= 1
  }

  return async (updates) => {
    assertNotNested()
    if (queuedUpdates + updates.length > maxQueuedUpdates) throw createBusyError()
    return new Promise((resolve, reject) => {
      queue.push({ updates, resolve, reject })
      queuedUpdates += updates.length
      if (running < concurrency) void applyQueued()
    })
  }
}

/** Whether the error affects every request: the store is unreachable or full. */
const affectsAllRequests = (error: unknown) => error instanceof StoreError && error.code !== 'ERR_STORE_BUSY'
const createBusyError = () => new StoreError('ERR_STORE_BUSY', 'Updates wait too long for the database; try again.')

export type ReceivedUpdate =
  | { readonly kind: 'unauthenticated' }
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'update'; readonly update: ProcessorUpdate }
  | { readonly kind: 'updates'; readonly updates: readonly ProcessorUpdate[] }

/** Parses one request. `signature` is the value of `X-Service-Signature`. */
export type UpdateReceiver = ReturnType<typeof createUpdateReceiver>

/**
 * Creates the receiver: signature over the raw bytes first (the `t=,v1=` scheme, within 300 s), then strict UTF-8, JSON
 * without duplicate keys, and the closed schema. Replays are harmless: an update is idempotent by its id.
 * @param deps - `secrets` of the processor, several during a rotation; the clock.
 * @throws TypeError When there is no secret, or a blank one.
 * @example
 * import { createUpdateReceiver, systemClock } from '@payment-integration/core'
 * const receive = createUpdateReceiver({ secrets: ['whsec_processor'], clock: systemClock })
 * export const receiveBody = (body: Uint8Array, headers: Headers) =>
 *   receive({ body, signature: headers.get('x-service-signature') })
 */
export function createUpdateReceiver(deps: {
  readonly secrets: readonly string[]
  readonly clock: Pick<Clock, 'now'>
}) {
  const { secrets, clock } = deps
  if (secrets.length === 0 || secrets.some((secret) => secret.trim() === ''))
    throw new TypeError('A processor secret is empty; pass at least one secret of the processor.')
  return async (request: { readonly body: Uint8Array; readonly signature: string | null }): Promise<ReceivedUpdate> => {
    const { body, signature } = request
    try {
      await verifySignature({ body, header: signature, secrets, clock })
    } catch (error) {
      if (error instanceof WebhookError) return { kind: 'unauthenticated' }
      throw error
    }
    return parseUpdate(body)
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Largest update, in bytes. */
const maxBytes = 16 * 1024

/** Parses the bytes of an update, or of several. Messages name fields, never values. */
export function parseUpdate(body: Uint8Array): ReceivedUpdate {
  let text: string
  let json: unknown
  try {
    assertModestJson(body)
    text = decoder.decode(body)
    json = JSON.parse(text)
  } catch {
    return { kind: 'invalid', message: formatUnreadableJson(body, 'Body is not UTF-8 JSON') }
  }
  const duplicate = findDuplicateKey(text)
  if (duplicate !== null) return { kind: 'invalid', message: `Field ${duplicate} is given twice` }
  const isList = typeof json === 'object' && json !== null && 'updates' in json
  const parsed = isList ? processorUpdatesSchema.safeParse(json) : processorUpdateSchema.safeParse(json)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return { kind: 'invalid', message: `${issue?.path.join('.') || 'Body'}: ${issue?.message ?? 'invalid'}` }
  }
  const { data } = parsed
  const updates = 'updates' in data ? data.updates : [data]
  // No update is longer than its body.
  const isTooLarge = (update: ProcessorUpdate) =>
    body.length > maxBytes && Buffer.byteLength(JSON.stringify(update)) > maxBytes
  const tooLargeIndex = updates.findIndex(isTooLarge)
  const name = isList ? `updates.${tooLargeIndex}` : 'The update'
  if (tooLargeIndex >= 0) return { kind: 'invalid', message: `${name} is larger than ${maxBytes} bytes` }
  return 'updates' in data ? { kind: 'updates', updates } : { kind: 'update', update: data }
}
