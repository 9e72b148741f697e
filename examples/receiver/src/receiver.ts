/** Receives payment notifications: verify the raw bytes, handle each version once, answer. @module */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createReceiver } from '@payment-integration/version-store'
import { createSqliteVersionStore } from '@payment-integration/version-store/sqlite'
import { createVerifier, explainRefusal, isWebhookRefusal, readBody, type Snapshot } from '@payment-integration/webhook'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'

/** What the receiver is made from. */
export interface ReceiverOptions {
  /** The webhook signing secret; two during a rotation. */
  readonly secrets: string | readonly string[]
  readonly database: DatabaseSyncInstance
  /** What a new version means to you. Runs in the transaction that records the version: both are kept, or neither. */
  readonly handle: (snapshot: Snapshot) => void
  /**
   * How long a sender may take for a whole request, in milliseconds; it is cut off within a tenth more. The service
   * gives up after 5 seconds.
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
      // Any status but 2xx makes the service send again, so a failure of ours loses nothing.
      console.error(explainRefusal(error) ?? error)
      return isWebhookRefusal(error) ? error.status : 500
    }
  }

  // Node looks for overdue requests at this interval only, and by itself every 30 seconds.
  const timing = { requestTimeout: requestTimeoutMs, connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 10) }
  return createServer(timing, (request, response) => {
    answer(request).then(
      (status) => response.writeHead(status).end(),
      () => response.destroy(),
    )
  })
}
