/** Writes into a SQLite file until that fails, and prints how. @module */
import { StoreError } from '@payment-integration/core'
import { createSqliteStore } from '../../src/exports/sqlite.js'

const [path = ''] = process.argv.slice(2)
const store = createSqliteStore({ path })
await store.migrate()
const blockHash = 'a'.repeat(10_000)
try {
  for (let chainId = 1; ; chainId += 1)
    await store.transaction((tx) => tx.setCheckpoint(chainId, { blockNumber: 1, blockHash }))
} catch (error) {
  process.stdout.write(`${error instanceof StoreError ? `${error.code}: ${error.message}` : String(error)}\n`)
}
await store.close()
