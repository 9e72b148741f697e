/** Receives payment notifications: verify the raw bytes, handle each version once, answer. @module */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createReceiver } from '@payment-integration/version-store'
import { createSqliteVersionStore } from '@payment-integration/version-store/sqlite'
import type { Snapshot } from '@payment-integration/webhook'
import { createVerifier, explainRejection, isWebhookRejection, readBody } from '@payment-integration/webhook'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'

/** Options of the receiver. */
export interface ReceiverOptions {
  /** The webhook signing secret; two during a rotation. */
  readonly secrets: string | readonly string[]
  readonly database: DatabaseSyncInstance
  /** Handles a new version. Runs in the transaction that records the version: both commit or neither. */
  readonly handle: (snapshot: Snapshot) => void
  /**
   * Timeout of a whole request, in milliseconds, with a tolerance of a tenth. The service itself stops after 5 seconds.
   * @default 10000
   */
  readonly requestTimeoutMs?: number | undefined
}

/** An HTTP server that accepts deliveries at `POST /webhook`. */
export function createReceiverServer(options: ReceiverOptions): Server {
  const { secrets, database, handle, requestTimeoutMs = 10_000 } = options
  const { verify } = createVerifier({ secrets })
  const receiver = createReceiver({ verify, store: createSqliteVersionStore({ database }), handle })

  async function answer(request: IncomingMessage): Promise<number> {
    if (request.method !== 'POST' || request.url !== '/webhook') return 404
    try {
      await receiver.receive({ body: await readBody(request), headers: request.headers })
      return 204
    } catch (error) {
      // The service retries after any status but 2xx, so a failure here loses no delivery.
      console.error(explainRejection(error) ?? error)
      return isWebhookRejection(error) ? error.status : 500
    }
  }

  // Node checks for overdue requests only at this interval; its default is 30 seconds.
  const timing = { requestTimeout: requestTimeoutMs, connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 10) }
  return createServer(timing, (request, response) => {
    answer(request).then(
      (status) => response.writeHead(status).end(),
      () => response.destroy(),
    )
  })
}
