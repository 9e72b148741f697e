/** The shop: orders, the receiver of notifications, and a timer that reconciles. @module */
import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { Client } from '@payment-integration/client'
import { createReceiver } from '@payment-integration/version-store'
import { createPostgresVersionStore } from '@payment-integration/version-store/postgres'
import type { WebhookError } from '@payment-integration/webhook'
import { createVerifier } from '@payment-integration/webhook'
import { createExpressHandler } from '@payment-integration/webhook/express'
import express from 'express'
import type { Pool } from 'pg'
import { attachPayment } from './attach-payment.js'
import { catalog } from './catalog.js'
import { addOrder, applySnapshot, findOrder, shopTables } from './orders.js'
import { reconcileUntil } from './reconciler.js'

/** Options of the shop. */
export interface ShopOptions {
  readonly pool: Pool
  readonly client: Client
  /** The address that receives the shop's payments. */
  readonly receiver: string
  /** Webhook signing secrets; two during a rotation. */
  readonly secrets: readonly string[]
  /** Interval of reconciling, in milliseconds. @default 300000 (five minutes) */
  readonly reconcileMs?: number | undefined
  readonly port: number
  readonly report: (line: string) => void
}

/** A running shop. */
export interface Shop {
  readonly url: string
  stop(): Promise<void>
}

/** Creates the tables and starts the shop. */
export async function startShop(options: ShopOptions): Promise<Shop> {
  const { pool, client, secrets, reconcileMs = 300_000, port, report } = options
  const store = createPostgresVersionStore({ database: pool })
  await store.migrate()
  await pool.query(shopTables)
  const { receive } = createReceiver({
    verify: createVerifier({ secrets }).verify,
    store,
    handle: (snapshot, tx) => applySnapshot(tx, snapshot, report),
  })

  const app = express()
  const onError = (error: unknown) => report(String(error))
  // A wrong secret shows here. Anyone can cause such lines, so they have only the code and no received text.
  const onRejection = ({ code }: WebhookError) => report(`a delivery was rejected: ${code}`)
  // Before any parser: the signature covers the raw bytes.
  app.all('/webhook', createExpressHandler({ receive, onError, onRejection }))
  // Put your log-in here: an order belongs to the customer who made it.
  app.use(express.json())
  app.post('/orders', async (request, response) => {
    const item = catalog.get(request.body?.item)
    if (item === undefined) return void response.status(400).end()
    // The id becomes the memo of the payment: at most 32 bytes, and unguessable, so no earlier payment can have it.
    const order = { id: randomBytes(12).toString('hex'), ...item }
    await addOrder(pool, order)
    response.status(201).json(order)
  })
  const attachParts = { client, pool, receiver: options.receiver.toLowerCase(), report }
  app.post('/orders/:id/payment', async (request, response) => {
    const txHash = String(request.body?.txHash)
    if (!/^0x[0-9a-f]{64}$/i.test(txHash)) return void response.status(400).end()
    const attached = await attachPayment(attachParts, request.params.id, txHash)
    response.status({ attached: 204, unknown: 404, rejected: 409 }[attached]).end()
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
