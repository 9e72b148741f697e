/** Starts the real service for the tests of reconciling: HTTP app, rules and SQLite file. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { createService, parseMasterKey } from '@payment-integration/core'
import type { NewPayment } from '@payment-integration/core/internal'
import { createApp, createUndiciSender } from '@payment-integration/server'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { paymentFacts } from '../../core/test/support/stored-payment.js'
import { type ClientOptions, createClient, createLegacyClient, type Payment } from '../src/exports/index.js'
import { hashOf, integrationAddress, patience } from './fixtures.js'

const newest = Date.UTC(2026, 0, 2, 3, 4, 5)
export const second = 1_000

/** Block time of the `n`th payment: each is a second older than the one before. */
export function findTime(n: number): Date {
  return new Date(newest - n * second)
}

/** The `n`th payment as an indexer records it; a higher `n` is older, and a negative one is newer than payment 0. */
function indexed(n: number, blockTimestamp: number, chainId = 137): NewPayment {
  const token = { address: `0x${'33'.repeat(20)}`, symbol: 'USDC', decimals: 6 }
  const txHash = hashOf(n + 1_000)
  const facts = paymentFacts('', {
    ...{ chainId, txHash, blockTimestamp, integrationAddress, source: { chainId, txHash } },
    ...{ blockNumber: 1_000_000 - n, blockHash: `0x${(n + 1_000).toString(16).padStart(64, 'b')}` },
    tokenIn: { ...token, amount: 13_500_000n },
    tokenOut: { ...token, gross: 13_500_000n, net: 13_370_000n },
  })
  return { primary: true, facts }
}

/** Starts a service with one integration, and closes it by `await using`. */
export async function startService() {
  const folder = await mkdtemp(join(tmpdir(), 'payment-integration-client-'))
  const store = createSqliteStore({ path: join(folder, 'service.db') })
  await store.migrate()
  const sender = createUndiciSender()
  const open = (masterKey: string) => createService({ store, sender, masterKey: parseMasterKey(masterKey), chains: [] })
  const service = open(randomBytes(32).toString('hex'))
  const { apiSecret } = await service.integrations.create({ address: integrationAddress })
  const { apiKey } = await service.legacyKeys.create()
  const health = async () => ({ status: 'ok', database: 'ok', chains: [] }) as const
  const app = createApp({ service, receiveUpdate: null, health })
  const requests: string[] = []
  /** Runs before each answer, to change the service while a client reads. */
  let between: (request: number) => Promise<void> = async () => undefined
  const answer = getRequestListener(
    async (request) => {
      const { pathname, search } = new URL(request.url)
      await between(requests.push(pathname + search))
      return app.fetch(request)
    },
    { overrideGlobalObjects: false },
  )
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let updates = 0
  const record = (...payments: readonly NewPayment[]) => store.transaction((tx) => tx.upsertPayments(payments))

  return {
    url,
    apiSecret,
    /** Paths and queries of the requests so far. */
    requests,
    /** @param act - Receives the number of the request, from 1. */
    beforeEachAnswer(act: typeof between) {
      between = act
    },
    client: (options: Partial<ClientOptions> = {}) =>
      createClient({ baseUrl: url, integrationAddress, apiSecret, ...patience, ...options }),
    /** Records payments, each at version 1. */
    index: (...numbers: readonly number[]) => record(...numbers.map((n) => indexed(n, findTime(n).getTime()))),
    /** A client of the legacy API. */
    legacy: (options: Partial<ClientOptions> = {}) =>
      createLegacyClient({ baseUrl: url, apiKey, ...patience, ...options }),
    /** Records payments of one transaction, as an indexer does: each has a memo, and the integration `of`. */
    async indexTogether(n: number, ...payments: readonly { readonly memo: string; readonly of?: string }[]) {
      const { facts } = indexed(n, findTime(n).getTime())
      const named = payments.map(({ memo, of = integrationAddress }, ordinal) => ({
        ...{ ...facts, ordinal, logIndex: ordinal, integrationAddress: of },
        memoHex: `0x${Buffer.from(memo).toString('hex').padEnd(64, '0')}`,
      }))
      const owners = named.map((each) => each.integrationAddress)
      await record(
        ...named.map((each, at) => ({ primary: owners.indexOf(each.integrationAddress) === at, facts: each })),
      )
    },
    /** Records the same hash on another chain, too. */
    indexOn: (chainId: number, n: number) => record(indexed(n, findTime(n).getTime(), chainId)),
    /** Moves a payment to another block time, as a reorg does. */
    move: (n: number, to: Date) => record(indexed(n, to.getTime())),
    /** Makes a new version of a payment. */
    async update(n: number, state: Payment['state']): Promise<void> {
      updates += 1
      const change = { id: `update-${updates}`, chainId: '137', txHash: hashOf(n + 1_000), state }
      const { outcome } = await service.applyUpdate(change as Parameters<typeof service.applyUpdate>[0])
      if (outcome !== 'applied') throw new Error(`the update of payment ${n} is ${outcome}`)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
      await sender.close()
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The hash that {@link startService} gives the `n`th payment. */
export const paymentHash = (n: number) => hashOf(n + 1_000)
