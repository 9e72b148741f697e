/** The function, made from what it needs. @module */
import { createReceiver } from '@payment-integration/version-store'
import { postgresVersionStore } from '@payment-integration/version-store/postgres'
import { createVerifier } from '@payment-integration/webhook'
import { type LambdaHandler, lambdaHandler } from '@payment-integration/webhook/lambda'
import type { Pool } from 'pg'
import { moveOrder } from './orders.js'

/** What the function needs. */
export interface FunctionParts {
  readonly pool: Pool
  /** Signing secrets, newest first. */
  readonly secrets: readonly string[]
  /** Told of what an operator must mend. @default console.error */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Makes the handler: verify, compare, move the order, commit; 204 only then. */
export function createHandler({ pool, secrets, onError }: FunctionParts): LambdaHandler {
  const { receive } = createReceiver({
    verify: createVerifier({ secrets }).verify,
    store: postgresVersionStore({ database: pool }),
    handle: (snapshot, tx) => moveOrder(tx, snapshot),
  })
  return lambdaHandler({ receive, onError })
}
