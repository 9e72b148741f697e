/** The shop: orders, the receiver of notifications, and a timer that reconciles. @module */
import { createServer, type Server } from 'node:http'
import type { Client } from '@payment-integration/client'
import { createReceiver } from '@payment-integration/version-store'
import { postgresVersionStore } from '@payment-integration/version-store/postgres'
import { createVerifier } from '@payment-integration/webhook'
import { expressHandler } from '@payment-integration/webhook/express'
import express from 'express'
import type { Pool } from 'pg'
import { addOrder, applySnapshot, attachPayment, findOrder, shopTables } from './orders.js'
import { reconcileUntil } from './reconciler.js'

/** What the shop is made from. */
export interface ShopOptions {
  readonly pool: Pool
  readonly client: Pick<Client, 'reconcile'>
  /** Webhook signing secrets; two during a rotation. */
  readonly secrets: readonly string[]
  /** How often to reconcile, in milliseconds. @default 300000 (five minutes) */
  readonly reconcileMs?: number | undefined
  readonly port: number
  readonly report: (line: string) => void
}

/** A running shop. */
export interface Shop {
  readonly url: string
  stop(): Promise<void>
}

/** Makes the tables, and starts the shop. */
export async function startShop(options: ShopOptions): Promise<Shop> {
  const { pool, client, secrets, reconcileMs = 300_000, port, report } = options
  const store = postgresVersionStore({ database: pool })
  await store.migrate()
  await pool.query(shopTables)
  const { receive } = createReceiver({
    verify: createVerifier({ secrets }).verify,
    store,
    handle: (snapshot, tx) => applySnapshot(tx, snapshot),
  })

  const app = express()
  // Before any parser: the signature covers the raw bytes.
  app.all('/webhook', expressHandler({ receive, onError: (error) => report(String(error)) }))
  app.use(express.json())
  app.post('/orders', async (request, response) => {
    const { id, price, currency } = request.body as { id: string; price: string; currency: string }
    await addOrder(pool, { id, price, currency })
    response.status(201).end()
  })
  app.post('/orders/:id/payment', async (request, response) => {
    const { chainId, txHash } = request.body as { chainId: string; txHash: string }
    const isAttached = await attachPayment(pool, request.params.id, chainId, txHash)
    response.status(isAttached ? 204 : 409).end()
  })
  app.get('/orders/:id', async (request, response) => {
    const order = await findOrder(pool, request.params.id)
    if (order === null) response.status(404).end()
    else response.json(order)
  })

  const server = createServer(app)
  const url = await listen(server, port)
  const stopping = new AbortController()
  const reconciling = reconcileUntil(stopping.signal, reconcileMs, { client, store, pool, report })
  return {
    url,
    async stop() {
      stopping.abort()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      await Promise.all([closed, reconciling])
    },
  }
}

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      resolve(`http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`)
    })
  })
}
