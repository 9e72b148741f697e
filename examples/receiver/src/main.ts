import type { AddressInfo } from 'node:net'
import { DatabaseSync } from '@photostructure/sqlite'
import { openLedger } from './ledger.js'
import { createReceiverServer } from './receiver.js'

const { WEBHOOK_SIGNING_SECRET = '', DATABASE = 'receiver.db', PORT = '4000' } = process.env
const secrets = WEBHOOK_SIGNING_SECRET.split(',')
  .map((secret) => secret.trim())
  .filter((secret) => secret !== '')
if (secrets.length === 0) {
  console.error(
    'Set WEBHOOK_SIGNING_SECRET to the signing secret of the integration; during a rotation to both: new,old',
  )
  process.exit(2)
}

const database = new DatabaseSync(DATABASE)
const ledger = openLedger(database)
const server = createReceiverServer({
  secrets,
  database,
  handle(snapshot) {
    ledger.write(snapshot)
    console.log(`${snapshot.txHash} is ${snapshot.state ?? 'indexed'} (version ${snapshot.version})`)
  },
})
server.listen(Number(PORT), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(`Deliveries are accepted at http://127.0.0.1:${port}/webhook`)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    server.close(() => database.close())
    server.closeIdleConnections()
  })
