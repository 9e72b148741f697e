/**
 * The whole service: real HTTP on both sides, a real SQLite file, the real sender. Only its chains are lists of blocks.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createService,
  createUpdateReceiver,
  parseMasterKey,
  silentLogger,
  systemClock,
} from '@payment-integration/core'
import type { Clock, IdentityProvider, Logger, ReceiptSource } from '@payment-integration/core/ports'
import type { WebhookReader } from '@payment-integration/identity-sumsub/service'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { createApp } from '../../src/app/create-app.js'
import { listenHttp } from '../../src/run/http-server.js'
import { createRequestListener } from '../../src/run/request-listener.js'
import { createUndiciSender } from '../../src/sender/undici-sender.js'
import { listedChain } from './clause-chain.js'
import { basic } from './integration-service.js'
import { startRecordingReceiver } from './recording-receiver.js'

const processorSecret = 'processor-secret-of-the-clauses'

/** Header of a processor's signature, as docs/interface.md 6 describes it. */
export function processorSignature(body: string): string {
  const t = Math.floor(Date.now() / 1_000)
  return `t=${t},v1=${createHmac('sha256', processorSecret).update(`${t}.${body}`).digest('hex')}`
}

/** Reads an update that the processor signed. */
export const receiveUpdate = createUpdateReceiver({ secrets: [processorSecret], clock: systemClock })

/** An integration of a test, and the two ways to use it. */
export interface Shop {
  /** As it was registered, in mixed case. */
  readonly registered: string
  readonly address: string
  readonly apiSecret: string
  readonly signingSecret: string
  readonly authorization: string
}

/** Options of a test. */
export interface ClauseOptions {
  readonly chainIds?: readonly number[]
  readonly receipts?: ReceiptSource
  /** By chain; those of the contract without it. */
  readonly confirmations?: Readonly<Record<number, number | null>>
  /** The identity provider; without it sharing is off. */
  readonly identity?: { readonly provider: IdentityProvider; readonly readWebhook: WebhookReader }
  readonly logger?: Logger
  /** @default the system's */
  readonly clock?: Clock
  /** @default a random one */
  readonly masterKey?: string
}

/** Starts everything with the given chains. Nothing runs by itself: a test calls `index` and `deliver`. */
export async function startClauses(options: ClauseOptions = {}) {
  const { chainIds = [1, 10], receipts, confirmations, clock = systemClock, identity, logger = silentLogger } = options
  const { masterKey = randomBytes(32).toString('hex') } = options
  const folder = await mkdtemp(join(tmpdir(), 'payment-integration-clauses-'))
  const store = createSqliteStore({ path: join(folder, 'clauses.db') })
  await store.migrate()
  const receiver = await startRecordingReceiver()
  const sender = createUndiciSender({ allowLoopbackHttp: true })
  const chains = new Map(chainIds.map((chainId) => [chainId, listedChain(chainId)]))
  const service = createService({
    store,
    sender,
    masterKey: parseMasterKey(masterKey),
    clock,
    chains: [...chains.values()].map(({ chain }) => ({ chain, startBlock: 0 })),
    allowLoopbackHttp: true,
    logger,
    ...(identity === undefined ? {} : { identity: { provider: identity.provider } }),
    ...(receipts === undefined ? {} : { receipts: { source: receipts } }),
    ...(confirmations === undefined ? {} : { confirmations }),
  })
  const health = async () => ({ status: 'ok', database: 'ok', chains: [] }) as const
  const app = createApp({ service, receiveUpdate, readWebhook: identity?.readWebhook, health, logger })
  const http = await listenHttp({ host: '127.0.0.1', port: 0 }, await createRequestListener(app, silentLogger))
  let updates = 0

  return {
    url: http.url,
    service,
    store,
    receiver,
    chain(chainId = 1) {
      const chain = chains.get(chainId)
      if (chain === undefined) throw new Error(`Chain ${chainId} is not among those of this service.`)
      return chain
    },
    /** Registers an integration whose notifications go to the receiver, under a path of its own. */
    async createShop(registered: string): Promise<Shop> {
      const notificationUrl = `${receiver.url}/${registered.toLowerCase()}`
      const { apiSecret, signingSecret } = await service.integrations.create({ address: registered, notificationUrl })
      const address = registered.toLowerCase()
      return { registered, address, apiSecret, signingSecret, authorization: basic(registered, apiSecret) }
    },
    /** Brings every chain's newest blocks into the store. */
    async index(): Promise<void> {
      for (const indexer of service.indexers) while (!(await indexer.step())) {}
    },
    /** Attempts every delivery that is due. */
    deliver: () => service.dispatcher.runOnce(),
    /** Sends a processor update over HTTP, signed. */
    async update(change: { readonly txHash: string; readonly chainId?: string } & Readonly<Record<string, unknown>>) {
      updates += 1
      const body = JSON.stringify({ id: `update-${updates}`, chainId: '1', ...change })
      const response = await fetch(`${http.url}/api/v1/processor/updates`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'x-service-signature': processorSignature(body) },
      })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    },
    /** GETs a path below the integration API. */
    async get(path: string, authorization: string) {
      const response = await fetch(`${http.url}/api/v1/integration/${path}`, { headers: { authorization } })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as unknown }
    },
    /** POSTs a body below the integration API. */
    async post(
      path: string,
      authorization: string,
      body: string | Uint8Array<ArrayBuffer>,
      contentType = 'application/json',
    ) {
      const headers = { authorization, 'content-type': contentType }
      const response = await fetch(`${http.url}/api/v1/integration/${path}`, { method: 'POST', headers, body })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as unknown }
    },
    async stop() {
      await http.stop(AbortSignal.timeout(2_000))
      await sender.close()
      await store.close()
      await receiver.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The result of {@link startClauses}. */
export type Clauses = Awaited<ReturnType<typeof startClauses>>
