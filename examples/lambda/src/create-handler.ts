/** Makes the Lambda function from its dependencies. @module */
import { createReceiver } from '@payment-integration/version-store'
import { createPostgresVersionStore } from '@payment-integration/version-store/postgres'
import { createVerifier } from '@payment-integration/webhook'
import { createLambdaHandler, type LambdaHandler } from '@payment-integration/webhook/lambda'
import type { Pool } from 'pg'
import { applySnapshot } from './orders.js'

/** Dependencies of the function. */
export interface FunctionParts {
  readonly pool: Pool
  /** Signing secrets, newest first. */
  readonly secrets: readonly string[]
  /** Receives errors on which an operator must act. @default console.error */
  readonly onError?: ((error: unknown) => void) | undefined
  /**
   * Receives the codes of rejected deliveries, and successes that do not match their order.
   * @default console.error
   */
  readonly report?: ((line: string) => void) | undefined
}

/** Makes the handler: verify, compare, store the payment, mark its order, commit; only then answer 204. */
export function createHandler({ pool, secrets, onError, report = console.error }: FunctionParts): LambdaHandler {
  const { receive } = createReceiver({
    verify: createVerifier({ secrets }).verify,
    store: createPostgresVersionStore({ database: pool }),
    handle: (snapshot, tx) => applySnapshot(tx, snapshot, report),
  })
  // A wrong secret shows here. Anyone can cause such lines, so they have only the code and no received text.
  return createLambdaHandler({
    receive,
    onError,
    onRejection: ({ code }) => report(`a delivery was rejected: ${code}`),
  })
}
