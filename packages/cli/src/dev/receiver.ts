/**
 * The demo's receiver, as an integrator would build it: an HTTP server with the verifier, the version store and its own
 * database. Source: docs/interface.md 6, receiver obligations.
 * @module
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReceiver } from '@payment-integration/version-store'
import { createSqliteVersionStore } from '@payment-integration/version-store/sqlite'
import { createVerifier, readBody, type Snapshot } from '@payment-integration/webhook'
import { openSqlite } from './open-sqlite.js'

/** The decision about an authentic delivery. */
export interface ReceiverAnswer {
  readonly snapshot: Snapshot
  readonly decision: 'apply' | 'duplicate' | 'stale'
}

/** A running receiver. */
export interface DemoReceiver {
  /** The notification URL. */
  readonly url: string
  /** The newest stored snapshot of a payment, or null. */
  stored(payment: Pick<Snapshot, 'chainId' | 'txHash'>): Snapshot | null
  close(): Promise<void>
}

/** Options of {@link startDemoReceiver}. */
export interface DemoReceiverOptions {
  readonly databasePath: string
  /** The signing secret of the integration, undefined until it is issued. */
  readonly secret: () => string | undefined
  readonly now: () => number
  readonly onAnswer: (answer: ReceiverAnswer) => void
  readonly onRefusal: (refusal: { readonly code: string; readonly status: number }) => void
}

const maxBodyBytes = 65_536

/** Starts the receiver on a free port of 127.0.0.1. */
export async function startDemoReceiver(options: DemoReceiverOptions): Promise<DemoReceiver> {
  const database = openSqlite(options.databasePath)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('CREATE TABLE orders (chain_id TEXT, tx_hash TEXT, snapshot TEXT, PRIMARY KEY (chain_id, tx_hash))')
  const save = database.prepare('INSERT OR REPLACE INTO orders (chain_id, tx_hash, snapshot) VALUES (?, ?, ?)')
  const find = database.prepare('SELECT snapshot FROM orders WHERE chain_id = ? AND tx_hash = ?')
  const { verify } = createVerifier({ secrets: () => options.secret(), now: options.now })
  const receiver = createReceiver({
    verify,
    store: createSqliteVersionStore({ database }),
    handle: (snapshot: Snapshot) => void save.run(snapshot.chainId, snapshot.txHash, JSON.stringify(snapshot)),
  })

  async function answer(request: IncomingMessage): Promise<number> {
    if (request.method !== 'POST' || request.url !== '/webhook') return 404
    try {
      const body = await readBody(request, { maxBytes: maxBodyBytes })
      options.onAnswer(await receiver.receive({ body, headers: request.headers }))
      return 204
    } catch (error) {
      const { code = 'ERR_UNEXPECTED', status = 500 } = error as { code?: string; status?: number }
      options.onRefusal({ code, status })
      return status
    }
  }

  const server = createServer((request, response) => {
    answer(request).then(
      (status) => response.writeHead(status).end(),
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    stored({ chainId, txHash }) {
      const row = find.get(chainId, txHash) as { snapshot: string } | undefined
      return row === undefined ? null : (JSON.parse(row.snapshot) as Snapshot)
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
      database.close()
    },
  }
}
