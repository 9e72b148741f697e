/** The zod schemas of this package as named JSON schemas with descriptions. @module */
import * as z from 'zod/mini'
import { errorBodySchema, kycUnavailableBody, shareRejectedBodySchema, unauthorizedBody } from '../errors.js'
import { shareResponseSchema } from '../identity.js'
import {
  currencyCodePattern,
  legacyErrorBodySchema,
  lookupSchema,
  verifyRequestLimits,
  verifyRequestSchema,
  verifySchema,
} from '../legacy.js'
import { object } from '../mode.js'
import { pageSchema, paymentSchema } from '../payment.js'
import {
  processorUpdateSchema,
  processorUpdatesSchema,
  shareRequestSchema,
  updateResultSchema,
  updateResultsSchema,
} from '../requests.js'
import { snapshotSchema } from '../snapshot.js'
import { descriptions } from './descriptions.js'
import { schemaRef } from './parts.js'
import type { JsonSchema } from './types.js'

const healthSchema = object('read', {
  status: z.enum(['ok', 'degraded', 'down']),
  database: z.enum(['ok', 'unavailable']),
  recording: z.optional(z.enum(['own'])),
  chains: z.array(
    object('read', {
      chainId: z.int(),
      leading: z.boolean(),
      head: z.nullable(z.int()),
      headAt: z.nullable(z.int()),
      indexed: z.nullable(z.int()),
      lag: z.nullable(z.int()),
      proof: z.nullable(z.enum(['root', 'bloom', 'none'])),
      reorganisations: z.int(),
      nodes: z.array(
        object('read', {
          name: z.string(),
          score: z.number(),
          inUse: z.boolean(),
          head: z.nullable(z.int()),
          latencyMs: z.nullable(z.number()),
          failures: z.int(),
          contradictions: z.int(),
          failedProofs: z.int(),
          calls: z.int(),
          receivedBytes: z.int(),
          blocks: z.int(),
          maxRange: z.int(),
          lastError: z.nullable(z.string()),
        }),
      ),
      error: z.nullable(z.string()),
      lastError: z.nullable(object('read', { message: z.string(), at: z.int() })),
    }),
  ),
})

const livenessSchema = object('read', { status: z.literal('ok') })

const strictVerifyRequestSchema = z.extend(verifyRequestSchema, {
  chainId: z.int().check(z.minimum(1), z.maximum(999_999_999_999_999)),
  txHash: z.string().check(z.regex(/^0x[0-9a-fA-F]{64}$/)),
  invoiceAmount: z.union([
    z.number().check(z.minimum(0)),
    z.string().check(z.maxLength(verifyRequestLimits.invoiceAmount), z.regex(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/)),
  ]),
  invoiceCurrency: z.string().check(z.regex(currencyCodePattern)),
  address: z.string().check(z.minLength(1), z.maxLength(verifyRequestLimits.address)),
})

/**
 * Uses the reading schemas for answers, because a newer service may add fields. The update is a request and closed.
 */
const named = {
  Payment: paymentSchema,
  Page: pageSchema,
  Snapshot: snapshotSchema,
  Lookup: lookupSchema,
  Verify: verifySchema,
  VerifyRequest: strictVerifyRequestSchema,
  ProcessorUpdate: processorUpdateSchema,
  ProcessorUpdates: processorUpdatesSchema,
  UpdateResult: updateResultSchema,
  UpdateResults: updateResultsSchema,
  UpdateRefused: z.extend(updateResultSchema, { error: z.string() }),
  ShareRequest: shareRequestSchema,
  ShareResponse: shareResponseSchema,
  ShareRejectedBody: shareRejectedBodySchema,
  KycUnavailableBody: object('read', { error: z.literal(kycUnavailableBody.error) }),
  Health: healthSchema,
  Liveness: livenessSchema,
  ErrorBody: errorBodySchema,
  LegacyErrorBody: legacyErrorBodySchema,
  UnauthorizedBody: object('read', { error: z.literal(unauthorizedBody.error) }),
}

type SchemaName = keyof typeof named

/** The schemas of the document. Every object and every field has a description. */
export function componentSchemas(): Record<SchemaName, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => schemaRef(id).$ref })
  const described = Object.entries(schemas).map(([name, schema]) => [
    name,
    describe(tidy(schema), descriptions[name as SchemaName]),
  ])
  return Object.fromEntries(described)
}

/** Removes keywords without effect, and shortens the date pattern of zod. */
function tidy(schema: object): Record<string, unknown> {
  const { $schema: _, $id: __, ...rest } = schema as Record<string, unknown>
  const kept = Object.entries(rest).filter(([keyword, value]) => !hasNoEffect(keyword, value))
  const tidied = Object.fromEntries(kept.map(([keyword, value]) => [keyword, tidyValue(value)]))
  // Zod's pattern repeats the format `date-time`. It adds only that the zone is UTC.
  return tidied['format'] === 'date-time' ? { ...tidied, pattern: 'Z$' } : tidied
}

function tidyValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidyValue)
  return typeof value === 'object' && value !== null ? tidy(value) : value
}

/** Whether a keyword allows everything: any additional fields, or all exact JSON numbers. */
function hasNoEffect(keyword: string, value: unknown): boolean {
  if (keyword === 'additionalProperties') return typeof value === 'object' && Object.keys(value ?? {}).length === 0
  return Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER && (keyword === 'minimum' || keyword === 'maximum')
}

type Texts = Readonly<Record<string, string>>

/**
 * Adds the descriptions of a schema and of its fields. A schema behind `anyOf` or `items` has the same path as its
 * field. Only the outermost schema of a path is described.
 */
function describe(schema: object, texts: Texts, path = '', outermost = true): JsonSchema {
  const description = outermost ? texts[path] : undefined
  const inner = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    switch (keyword) {
      case 'properties':
        return [keyword, describeFields(value, texts, path)]
      case 'items':
        return [keyword, describe(value, texts, path, false)]
      case 'anyOf':
        return [keyword, (value as object[]).map((each) => describe(each, texts, path, false))]
      default:
        return [keyword, value]
    }
  })
  return { ...(description === undefined ? {} : { description }), ...Object.fromEntries(inner) }
}

function describeFields(fields: object, texts: Texts, path: string): JsonSchema {
  const prefix = path === '' ? '' : `${path}.`
  const described = Object.entries(fields).map(([name, schema]) => [name, describe(schema, texts, `${prefix}${name}`)])
  return Object.fromEntries(described)
}
