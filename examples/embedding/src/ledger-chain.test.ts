import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService, parseMasterKey, silentLogger } from '@payment-integration/core'
import { createUndiciSender } from '@payment-integration/server'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { chainConformance } from '@payment-integration/testing/conformance'
import { expect, test } from 'vitest'
import { listenLocally } from '../../../packages/cli/test/serve-http.js'
import { toBase58 } from './base58.js'
import { createLedgerChain, type LedgerBlock } from './ledger-chain.js'

let ids = 0
const newId = () => toBase58(`0x${createHash('sha256').update(String(ids++)).digest('hex')}`)

/** A ledger's node on a real port. */
async function startLedger() {
  const blocks: LedgerBlock[] = []
  function mine(transfers = 0, at = blocks.length) {
    blocks.splice(at)
    const transfer = () => ({ id: newId(), from: 'alice', to: 'bob', units: '2500000000' })
    const place = { height: at, id: newId(), parent: blocks.at(-1)?.id ?? newId(), time: 1_700_000_000 + at }
    blocks.push({ ...place, transfers: Array.from({ length: transfers }, transfer) })
  }
  mine()
  const server = createServer((request, response) => {
    const [, kind, key = ''] = (request.url ?? '').split('/')
    const holder = blocks.find(({ transfers }) => transfers.some(({ id }) => id === key))
    const found = { head: blocks.at(-1), block: blocks[Number(key)], transfer: holder }[kind ?? '']
    response.writeHead(found === undefined ? 404 : 200).end(JSON.stringify(found ?? null))
  })
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  const nodeUrl = await listenLocally(server)
  return { chain: createLedgerChain({ chainId: 900_001, nodeUrl }), blocks, mine, close }
}

chainConformance('ledger', async () => {
  const { chain, mine, close, blocks } = await startLedger()
  const replaceNewest = async () => mine(0, blocks.length - 1)
  return { chain, mine: async (payments) => mine(payments), replaceNewest, close }
})

test('a transfer of the ledger becomes a payment, whose hash is shown in both notations', async () => {
  const { chain, mine, close, blocks } = await startLedger()
  const folder = await mkdtemp(join(tmpdir(), 'ledger-'))
  const store = createSqliteStore({ path: join(folder, 'payments.db') })
  const sender = createUndiciSender()
  try {
    await store.migrate()
    const masterKey = parseMasterKey(randomBytes(32).toString('hex'))
    const chains = [{ chain, startBlock: 0 }]
    const service = createService({ store, sender, masterKey, chains, logger: silentLogger })
    mine(1)
    const [indexer] = service.indexers
    while (!(await indexer?.step()));
    const { rows } = await store.console.payments({ limit: 9 })
    expect(rows).toMatchObject([{ chainId: 900_001, tokenOut: { symbol: 'LDG', net: 2_500_000_000n } }])
    expect(indexer?.nativeHash(rows[0]?.txHash ?? '')).toBe(blocks[1]?.transfers[0]?.id)
  } finally {
    await sender.close()
    await store.close()
    await rm(folder, { recursive: true })
    close()
  }
})
