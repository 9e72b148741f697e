/** Authenticates and parses a processor update. Source: docs/decisions/processor-updates.md. @module */
import {
  type ProcessorUpdate,
  processorUpdateSchema,
  processorUpdatesSchema,
  unreadableJsonMessage,
} from '@payment-integration/contract'
import { assertModestJson } from '@payment-integration/contract/parse'
import { verifySignature, WebhookError } from '@payment-integration/webhook'
import { findDuplicateKey } from '../internal/duplicate-key.js'
import type { Clock } from '../ports/world.js'

/** A parsed request, or why it is none. */
export type ReceivedUpdate =
  | { readonly kind: 'unauthenticated' }
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'update'; readonly update: ProcessorUpdate }
  | { readonly kind: 'updates'; readonly updates: readonly ProcessorUpdate[] }

/** Parses one request. `signature` is the value of `X-Service-Signature`. */
export type UpdateReceiver = (input: {
  readonly body: Uint8Array
  readonly signature: string | null
}) => Promise<ReceivedUpdate>

/**
 * Builds the receiver: signature over the raw bytes first (the same `t=,v1=` scheme, within 300 s), then strict UTF-8,
 * JSON without duplicate keys, and the closed schema. Replays are harmless: an update is idempotent by its id.
 *
 * @param deps - `secrets` of the processor, several during a rotation; the clock.
 *
 * @throws TypeError When there is no secret, or a blank one.
 */
export function createUpdateReceiver(deps: {
  readonly secrets: readonly string[]
  readonly clock: Pick<Clock, 'now'>
}): UpdateReceiver {
  const { secrets, clock } = deps
  if (secrets.length === 0 || secrets.some((secret) => secret.trim() === ''))
    throw new TypeError('A processor secret is empty; pass at least one secret of the processor.')
  return async ({ body, signature }) => {
    try {
      await verifySignature({ body, header: signature, secrets, now: clock.now })
    } catch (error) {
      if (error instanceof WebhookError) return { kind: 'unauthenticated' }
      throw error
    }
    return parseUpdate(body)
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Parses the bytes of an update, or of several. Messages name fields, never values. */
export function parseUpdate(body: Uint8Array): ReceivedUpdate {
  let text: string
  let json: unknown
  try {
    assertModestJson(body)
    text = decoder.decode(body)
    json = JSON.parse(text)
  } catch {
    return { kind: 'invalid', message: unreadableJsonMessage(body, 'Body is not UTF-8 JSON') }
  }
  const duplicate = findDuplicateKey(text)
  if (duplicate !== null) return { kind: 'invalid', message: `Field ${duplicate} is given twice` }
  const parsed = parseJson(json, body.length)
  if (!('issues' in parsed)) return parsed
  const [issue] = parsed.issues
  const where = issue?.path.join('.') ?? ''
  return { kind: 'invalid', message: `${where === '' ? 'Body' : where}: ${issue?.message ?? 'invalid'}` }
}

/** Largest update, in bytes. */
const maxBytes = 16 * 1024

function parseJson(json: unknown, size: number) {
  // No update is longer than the body that it stands in.
  const isTooLarge = (update: ProcessorUpdate) =>
    size > maxBytes && Buffer.byteLength(JSON.stringify(update)) > maxBytes
  if (typeof json === 'object' && json !== null && 'updates' in json) {
    const { data, error } = processorUpdatesSchema.safeParse(json)
    if (data === undefined) return error
    const index = data.updates.findIndex(isTooLarge)
    if (index >= 0) return tooLarge(`updates.${index}`)
    return { kind: 'updates', updates: data.updates } as const
  }
  const { data, error } = processorUpdateSchema.safeParse(json)
  if (data === undefined) return error
  if (isTooLarge(data)) return tooLarge('The update')
  return { kind: 'update', update: data } as const
}

const tooLarge = (what: string) => ({ kind: 'invalid', message: `${what} is larger than ${maxBytes} bytes` }) as const
