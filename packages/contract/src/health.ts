/** The report of `GET /health`. Source: docs/roles.md. @module */
import * as z from 'zod/mini'
import { object } from './primitives.js'

/** Makes the schema of the report. A function, so that a bundle that reads no report omits the schema. */
export const healthSchema = () =>
  object('read', {
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
        reorgs: z.int(),
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
