/**
 * The whole service: real HTTP on both sides, a real SQLite file, the real sender. Only its chains are lists of blocks.
 */
import { randomBytes } from 'node:crypto'
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
import { createUndiciSender } from '../../src/sender/undici-sender.js'
import { listedChain } from './clause-chain.js'
import { basic, signBody } from './integration-service.js'
import { listenApp } from './listening-app.js'
import { startRecordingReceiver } from './recording-receiver.js'

const processorSecret = 'processor-secret-of-the-clauses'

/** The signature of a body by the processor of these tests. */
export const processorSignature = (body: string) => signBody(body, processorSecret)

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

export interface ClauseOptions {
  readonly chainIds?: readonly number[]
  readonly receipts?: ReceiptSource
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
  const { chainIds = [1, 10], receipts, clock = systemClock, identity, logger = silentLogger } = options
  const { masterKey = randomBytes(32).toString('hex') } = options
  const folder = await mkdtemp(join(tmpdir(), 'payment-integration-clauses-'))
  const store = createSqliteStore({ path: join(folder, 'clauses.db') })
  await store.migrate()
  const receiver = await startRecordingReceiver()
  const sender = createUndiciSender({ allowLoopbackHttp: true, connectTimeoutMs: 600_000 })
  const chains = new Map(chainIds.map((chainId) => [chainId, listedChain(chainId)]))
  const service = createService({
    store,
    sender: { post: (request) => sender.post({ ...request, timeoutMs: 600_000 }) },
    masterKey: parseMasterKey(masterKey),
    clock,
    chains: [...chains.values()].map(({ chain }) => ({ chain, startBlock: 0 })),
    allowLoopbackHttp: true,
    logger,
    ...(identity === undefined ? {} : { identity: { provider: identity.provider } }),
    ...(receipts === undefined ? {} : { receipts: { source: receipts } }),
  })
  const http = await listenApp({ service, receiveUpdate, readWebhook: identity?.readWebhook, logger })
  let updates = 0
  async function ask(path: string, init: RequestInit) {
    const response = await fetch(`${http.url}/api/v1/integration/${path}`, init)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as unknown }
  }

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
    get: (path: string, authorization: string) => ask(path, { headers: { authorization } }),
    /** POSTs a body below the integration API. */
    post: (path: string, authorization: string, body: string, contentType = 'application/json') =>
      ask(path, { method: 'POST', headers: { authorization, 'content-type': contentType }, body }),
    async stop() {
      await http.stop(2_000)
      await sender.close()
      await store.close()
      await receiver.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type Clauses = Awaited<ReturnType<typeof startClauses>>
