/** What the health endpoints answer. They are for operators and load balancers, and no part of INTERFACE. @module */
import * as z from 'zod/mini'
import { object } from '../mode.js'

/** Body of `GET /health`. */
export const healthSchema = object('read', {
  status: z.enum(['ok', 'degraded', 'down']),
  database: z.enum(['ok', 'unavailable']),
  chains: z.array(
    object('read', {
      chainId: z.int(),
      head: z.nullable(z.int()),
      indexed: z.nullable(z.int()),
      lag: z.nullable(z.int()),
      error: z.nullable(z.string()),
    }),
  ),
})

/** Body of `GET /health/live`. */
export const livenessSchema = object('read', { status: z.literal('ok') })
