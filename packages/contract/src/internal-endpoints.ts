/** Endpoints for this workspace: delivery stream, trigger. Source: docs/decisions/trigger-and-listen.md. @module */
import * as z from 'zod/mini'
import { object } from './primitives.js'
import { integrationPrefix } from './wire.js'

export const deliveryStreamPath = `${integrationPrefix}/deliveries/stream`

/**
 * Names of the stream's events. `ready`: the stream has begun, with {@link streamReadySchema}. `delivery`: one
 * delivery, with {@link streamedDeliverySchema}. `live`: the backlog is sent; deliveries of the last moments may
 * follow.
 */
export const streamEvents = { ready: 'ready', delivery: 'delivery', live: 'live' } as const

/** Makes the schema of the event `ready`. A function, so that a bundle that reads no stream omits the schema. */
export const streamReadySchema = () =>
  object('read', {
    /** Whether the stream goes on after a `Last-Event-ID`. */
    resumed: z.boolean(),
    /** False: the integration has no notification URL, so the service makes no deliveries for it. */
    notifies: z.boolean(),
  })

/** Makes the schema of the event `delivery`. */
export const streamedDeliverySchema = () =>
  object('read', {
    /** `Content-Type`, `X-Service-Integration` and `X-Service-Signature`, which was made when the event was sent. */
    headers: z.record(z.string(), z.string()),
    /** The snapshot bytes in base64. */
    body: z.string(),
    chainId: z.string(),
    txHash: z.string(),
    version: z.int(),
    /** ISO 8601, UTC; null: unknown. */
    createdAt: z.nullable(z.string()),
  })

export type StreamReady = z.infer<ReturnType<typeof streamReadySchema>>
export type StreamedDeliveryBody = z.infer<ReturnType<typeof streamedDeliverySchema>>

/** Path on which a server in development causes events on demand. */
export const triggerPath = `${integrationPrefix}/trigger`

/** Every scenario; the decision page says what each causes. */
export const triggerScenarios = [
  'payment',
  'success',
  'failure',
  'refund',
  'out-of-order',
  'duplicate',
  'burst',
  'multi-chain-hash',
  'reorg',
  'kyc',
] as const

export type TriggerScenario = (typeof triggerScenarios)[number]

/** Verdicts of the scenario `kyc`. Sharing again can help after `red-retry`, but not after `red-final`. */
export const triggerVerdicts = ['green', 'red-retry', 'red-final'] as const

export type TriggerVerdict = (typeof triggerVerdicts)[number]
