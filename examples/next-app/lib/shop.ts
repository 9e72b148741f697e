/** Opens the shop's database and receiver once for both routers. @module */
import { createReceiver, type Receiver } from '@payment-integration/version-store'
import { createSqliteVersionStore } from '@payment-integration/version-store/sqlite'
import type { Delivery, RequestLike, Snapshot, VerifiedDelivery } from '@payment-integration/webhook'
import { createVerifier } from '@payment-integration/webhook'
import { DatabaseSync } from '@photostructure/sqlite'

/** An open shop. */
export interface Shop {
  readonly receive: Receiver<Delivery | RequestLike, VerifiedDelivery>['receive']
  /** States that an order had, oldest first. */
  states(txHash: string): (string | null)[]
  close(): void
}

/**
 * Opens the database and makes the receiver over it.
 * @throws {TypeError} When the secret is empty, before anything is opened.
 */
export function openShop({ path, secret }: { readonly path: string; readonly secret: string }): Shop {
  const { verify } = createVerifier({ secrets: secret })
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE IF NOT EXISTS history (tx_hash TEXT NOT NULL, version INTEGER NOT NULL, state TEXT)')
  const insert = database.prepare('INSERT INTO history (tx_hash, version, state) VALUES (?, ?, ?)')
  const select = database.prepare('SELECT state FROM history WHERE tx_hash = ? ORDER BY rowid')
  const { receive } = createReceiver({
    verify,
    store: createSqliteVersionStore({ database }),
    // In the transaction that records the version: both commit or neither.
    handle: ({ txHash, version, state }: Snapshot) => void insert.run(txHash, version, state),
  })
  return {
    receive,
    states: (txHash) => select.all(txHash).map((row) => (row as { state: string | null }).state),
    close: () => database.close(),
  }
}

let opened: Shop | undefined

/**
 * The shop of this process. Not opened while Next builds: a build has no secret. After `close`, the next call opens it
 * again.
 */
export function shop(): Shop {
  if (opened === undefined) {
    const newShop = openShop({
      path: process.env['DATABASE'] ?? 'shop.db',
      secret: process.env['WEBHOOK_SIGNING_SECRET'] ?? '',
    })
    const close = () => {
      opened = undefined
      newShop.close()
    }
    opened = { ...newShop, close }
  }
  return opened
}
