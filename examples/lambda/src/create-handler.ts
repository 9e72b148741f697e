/** The function, made from what it needs. @module */
import { createReceiver } from '@payment-integration/version-store'
import { createPostgresVersionStore } from '@payment-integration/version-store/postgres'
import { createVerifier } from '@payment-integration/webhook'
import { createLambdaHandler, type LambdaHandler } from '@payment-integration/webhook/lambda'
import type { Pool } from 'pg'
import { applySnapshot } from './orders.js'

/** What the function needs. */
export interface FunctionParts {
  readonly pool: Pool
  /** Signing secrets, newest first. */
  readonly secrets: readonly string[]
  /** Told of what an operator must mend. @default console.error */
  readonly onError?: ((error: unknown) => void) | undefined
  /**
   * Told of deliveries that were refused, by code, and of successes that do not fit their order.
   * @default console.error
   */
  readonly report?: ((line: string) => void) | undefined
}

/** Makes the handler: verify, compare, keep the payment, mark its order, commit; 204 only then. */
export function createHandler({ pool, secrets, onError, report = console.error }: FunctionParts): LambdaHandler {
  const { receive } = createReceiver({
    verify: createVerifier({ secrets }).verify,
    store: createPostgresVersionStore({ database: pool }),
    handle: (snapshot, tx) => applySnapshot(tx, snapshot, report),
  })
  // A wrong secret shows here. Strangers can cause lines too, so they have the code and nothing that was sent.
  return createLambdaHandler({ receive, onError, onRefusal: ({ code }) => report(`a delivery was refused: ${code}`) })
}
