/** A Fastify application with the payment service inside it, in the same PostgreSQL. @module */
import { getRequestListener } from '@hono/node-server'
import { createEvmChain, type KnownRouter } from '@payment-integration/chain-evm'
import { createService, parseMasterKey, type Service } from '@payment-integration/core'
import type { SumsubClientOptions } from '@payment-integration/identity-sumsub/service'
import { createSumsubClient, createWebhookReader } from '@payment-integration/identity-sumsub/service'
import { createApp, createHealth, createSumsubIdentityProvider, createUndiciSender } from '@payment-integration/server'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import Fastify, { type FastifyInstance } from 'fastify'
import { Hono } from 'hono'
import pg from 'pg'
import { ordersTable } from './orders.js'
import { settle } from './settle.js'
import { hostAccounts, ownEmail, registerUser, usersTable } from './users.js'

/** Options of the host. */
export interface HostOptions {
  /** The host's own database; the service's tables are in a schema of their own. */
  readonly databaseUrl: string
  /** 32 random bytes, as 64 hex digits or base64url. */
  readonly masterKey: string
  readonly chainId: number
  readonly rpcUrl: string
  readonly routers: readonly KnownRouter[]
  /** Start height of the first indexing. @default 'head' */
  readonly startBlock?: number | 'head' | undefined
  /** Port on 127.0.0.1; 0 is a free one. */
  readonly port: number
  /** Development only: notifications may go to this machine by `http:`. @default false */
  readonly allowLoopbackHttp?: boolean | undefined
  /** Credentials at Sumsub. @default none: identity verifications are not shared */
  readonly identity?: (SumsubClientOptions & { readonly webhookSecret: string }) | undefined
}

/** A running host. */
export interface Host {
  readonly url: string
  readonly pool: pg.Pool
  readonly service: Service
  stop(): Promise<void>
}

const prefix = '/payments-service'

/** Starts the host: its own routes, the payment API under a prefix, and the loops of the service, over one pool. */
export async function startHost(options: HostOptions): Promise<Host> {
  const { databaseUrl, masterKey, chainId, rpcUrl, routers, startBlock, port, allowLoopbackHttp = false } = options
  const provider =
    options.identity === undefined ? null : createSumsubIdentityProvider(createSumsubClient, options.identity)
  const pool = new pg.Pool({ connectionString: databaseUrl, connectionTimeoutMillis: 3000 })
  // The next use replaces a broken idle connection. Without a listener its error would end the process.
  pool.on('error', (error) => console.error(error.message))
  const store = createPostgresStore({ pool })
  const sender = createUndiciSender({ allowLoopbackHttp })
  await store.migrate()
  await pool.query(ordersTable)
  await pool.query(usersTable)
  const chains = [{ chain: createEvmChain({ chainId, rpcUrl, routers }), startBlock }]
  const identity = provider === null ? undefined : { provider, accounts: hostAccounts(pool) }
  const keys = parseMasterKey(masterKey)
  const service = createService({ store, sender, masterKey: keys, chains, allowLoopbackHttp, identity })

  const fastify = Fastify()
  fastify.get('/', async () => 'The host application')
  fastify.post<{ Params: { id: string }; Body: { amount: string; merchant: string } }>(
    '/orders/:id/settle',
    async ({ params, body }, reply) => {
      const isSettled = await settle(pool, service, { orderId: params.id, ...body })
      return reply.code(isSettled ? 204 : 404).send()
    },
  )
  fastify.post<{ Body: { email: string } }>('/users', async ({ body }, reply) =>
    reply.code(201).send({ id: await registerUser(pool, body.email) }),
  )
  fastify.post<{ Params: { id: string }; Body: { email: string } }>(
    '/users/:id/proofs',
    async ({ params: { id: accountId }, body: { email } }, reply) => {
      await ownEmail(pool, accountId, email)
      // The host reports each proof to the service at once.
      await service.identity?.reportProof({ email, accountId })
      return reply.code(204).send()
    },
  )
  const health = createHealth({ store, indexers: service.indexers })
  const readWebhook = options.identity && createWebhookReader({ secret: options.identity.webhookSecret })
  const api = createApp({ service, receiveUpdate: null, readWebhook, health })
  mountApi(fastify, new Hono().mount(prefix, api.fetch))

  const url = await fastify.listen({ host: '127.0.0.1', port })
  const stopping = new AbortController()
  const loops = service.run(stopping.signal)
  return {
    url,
    pool,
    service,
    async stop() {
      stopping.abort()
      await Promise.all([loops, fastify.close()])
      provider?.close()
      await sender.close()
      await store.close()
      await pool.end()
    },
  }
}

/** Passes every request under the prefix to the payment API before any parser of Fastify reads its body. */
function mountApi(fastify: FastifyInstance, app: Hono): void {
  const listener = getRequestListener(app.fetch)
  fastify.register((scope, _options, ready) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.all(`${prefix}/*`, async (request, reply) => {
      reply.hijack()
      await listener(request.raw, reply.raw)
    })
    ready()
  })
}
