/** Stores one integration after the other and prints the number of each once it is committed. @module */
import { createSqliteStore } from '../../src/exports/sqlite.js'

const [path = ''] = process.argv.slice(2)
const store = createSqliteStore({ path })
await store.migrate()
const signingSecret = { keyVersion: 1, sealed: 'sealed' }
for (let n = 1; ; n += 1) {
  const address = `0x${n.toString(16).padStart(40, '0')}`
  const fields = { name: `${n}`, notificationUrl: null, apiSecret: null, previousApiSecret: null, createdAt: n }
  await store.integrations.insert({
    ...fields,
    address,
    enabled: true,
    signingSecret,
    preparedSigningSecret: null,
    previousSigningSecret: null,
  })
  process.stdout.write(`${n}\n`)
}
