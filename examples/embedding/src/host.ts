/** A host application with the payment service inside it. @module */
import { type ServerType, serve } from '@hono/node-server'
import { createEvmChain, type KnownRouter } from '@payment-integration/chain-evm'
import { createService, type EventSink, parseMasterKey, type Service } from '@payment-integration/core'
import type { SumsubClientOptions } from '@payment-integration/identity-sumsub/service'
import { createSumsubClient, createWebhookReader } from '@payment-integration/identity-sumsub/service'
import { createApp, createHealth, createSumsubIdentityProvider, createUndiciSender } from '@payment-integration/server'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { Hono } from 'hono'
import { createUsers, type Users } from './users.js'

/** Options of the host. */
export interface HostOptions {
  /** Path of the database file. */
  readonly databasePath: string
  /** 32 random bytes, as 64 hex digits or base64url. */
  readonly masterKey: string
  readonly chainId: number
  readonly rpcUrl: string
  readonly routers: readonly KnownRouter[]
  /** Start height of the first indexing. @default 'head' */
  readonly startBlock?: number | 'head' | undefined
  /** Port on 127.0.0.1; 0 is a free one. */
  readonly port: number
  /** Receives the events of the service. */
  readonly onEvent: EventSink
  /** Credentials at Sumsub. @default none: identity verifications are not shared */
  readonly identity?: (SumsubClientOptions & { readonly webhookSecret: string }) | undefined
}

/** A running host. */
export interface Host {
  /** Base URL of the host's own pages; the payment API is below `/payments-service`. */
  readonly url: string
  readonly service: Service
  readonly users: Users
  /** Records that a user proved an address, for example by a link in a message to it. */
  proveEmail(accountId: string, email: string): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts the host: its own pages, the payment API under a prefix, and the loops of the service. A failed start, such as
 * a port in use, leaves nothing open.
 */
export async function startHost(options: HostOptions): Promise<Host> {
  const { databasePath, masterKey, chainId, rpcUrl, routers, startBlock, port, onEvent } = options
  const users = createUsers()
  const provider =
    options.identity === undefined ? null : createSumsubIdentityProvider(createSumsubClient, options.identity)
  const store = createSqliteStore({ path: databasePath })
  const sender = createUndiciSender()
  async function close(): Promise<void> {
    provider?.close()
    await sender.close()
    await store.close()
  }
  try {
    await store.migrate()
    const chains = [{ chain: createEvmChain({ chainId, rpcUrl, routers }), startBlock }]
    const identity = provider === null ? undefined : { provider, accounts: users.accounts }
    const service = createService({ store, sender, masterKey: parseMasterKey(masterKey), chains, onEvent, identity })
    const health = createHealth({ store, indexers: service.indexers })
    const readWebhook = options.identity && createWebhookReader({ secret: options.identity.webhookSecret })

    const app = new Hono()
    app.get('/', (c) => c.text('The host application'))
    app.mount('/payments-service', createApp({ service, receiveUpdate: null, readWebhook, health }).fetch)

    const stopping = new AbortController()
    const { server, url } = await listen(app, port)
    const loops = service.run(stopping.signal)
    return {
      url,
      service,
      users,
      async proveEmail(accountId, email) {
        users.own(accountId, email)
        // The host reports each proof to the service at once.
        await service.identity?.reportProof({ email, accountId })
      },
      async stop() {
        stopping.abort()
        await Promise.all([loops, new Promise((closed) => server.close(closed))])
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

function listen(app: Hono, port: number): Promise<{ server: ServerType; url: string }> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, (address) =>
      resolve({ server, url: `http://127.0.0.1:${address.port}` }),
    )
    server.once('error', reject)
  })
}
