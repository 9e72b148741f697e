/** One bad endpoint of a hundred, over real sockets and real databases. Source: docs/decisions/fairness.md. @module */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type ServiceEvent, silentLogger, systemClock, systemRandom } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDispatcher } from '../../core/src/notifications/dispatcher.js'
import * as fixtures from '../../store-sql/test/conformance/fixtures.js'
import { postgresMissing, startPostgres, type TestPostgres } from '../../store-sql/test/postgres.js'
import { temporaryFolder } from '../../store-sql/test/support/engines.js'
import { createUndiciSender } from '../src/sender/undici-sender.js'
import { tooLoud } from './support/too-loud.js'

const { address, hash, indexPayments, integration, primary } = fixtures

const endpoints = 100
/**
 * Answer time of a healthy receiver, in milliseconds: most of the time from publishing to delivery, so that other load
 * on this machine matters little.
 */
const answerMs = 300
const fewestRounds = 3
const mostRounds = 9

const well: RequestListener = (_, response) => {
  setTimeout(() => response.writeHead(204).end(), answerMs)
}

/** How endpoint 0 behaves. */
const troubles: Readonly<Record<string, RequestListener>> = {
  'is dead': (request) => request.socket.destroy(),
  'is slow': (_, response) => {
    setTimeout(() => response.writeHead(204).end(), 4_500).unref()
  },
  drips: (_, response) => {
    response.writeHead(200)
    const dripping = setInterval(() => response.write('.'), 250)
    response.on('close', () => clearInterval(dripping))
  },
}

const names = ['is well', ...Object.keys(troubles)]

/**
 * Publishes twice to each endpoint, while endpoint 0 has a backlog. Resolves the others' delivery times, in
 * milliseconds.
 */
async function publishedMs(store: Store, bad: RequestListener): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: endpoints }, (_, n) => listen(n === 0 ? bad : well)))
  const sender = createUndiciSender({ allowLoopbackHttp: true })
  const times: number[] = []
  const publish = (event: ServiceEvent) => {
    if (event.type === 'delivery.attempted' && event.publishedMs !== null && event.integrationAddress !== address(0))
      times.push(event.publishedMs)
  }
  const openSecret = () => 'secret of everyone'
  const deps = { store, sender, openSecret, publish, clock: systemClock, random: systemRandom, logger: silentLogger }
  const dispatcher = createDispatcher(deps)
  const controller = new AbortController()
  try {
    await store.migrate()
    for (const [n, server] of servers.entries()) {
      const notificationUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
      await store.integrations.insert(integration({ address: address(n), notificationUrl }))
    }
    let made = 0
    const owe = async (names: readonly number[]) => {
      const given = names.map((n, index) => primary({ txHash: hash(made + index), integrationAddress: address(n) }))
      made += names.length
      await store.transaction((tx) => indexPayments(tx, given))
      dispatcher.wake()
    }
    await owe(Array.from({ length: 200 }, () => 0))
    const running = dispatcher.run(controller.signal)
    await systemClock.sleep(300)
    for (let wave = 0; wave < 20; wave += 1) {
      await owe(Array.from({ length: 10 }, (_, n) => (wave % 10) * 10 + n))
      await systemClock.sleep(60)
    }
    await expect.poll(() => times.length, { timeout: 300_000 }).toBe(2 * (endpoints - 1))
    controller.abort()
    for (const server of servers) server.closeAllConnections()
    await running
    return times
  } finally {
    controller.abort()
    for (const server of servers) server.close().closeAllConnections()
    await sender.close()
  }
}

function listen(answer: RequestListener): Promise<Server> {
  const server = createServer(answer)
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

const p99 = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** Registers the tests for a kind of store. @param open - Opens an empty one. */
function noisyEndpointTests(open: () => { readonly store: Store; close(): Promise<void> }): void {
  async function round(bad: RequestListener): Promise<number> {
    const { store, close } = open()
    try {
      return p99(await publishedMs(store, bad))
    } finally {
      await close()
    }
  }

  test('one of a hundred endpoints that is dead, slow or dripping moves the 99th percentile of the others by 10 % at most', async (context) => {
    const found = new Map<string, number[]>(names.map((name) => [name, []]))
    const typical = (name: string) => median(found.get(name) ?? [])
    const isMoved = () => names.some((name) => typical(name) > typical('is well') * 1.1)
    // A busy machine moves single rounds by more than that; a fault of the dispatcher moves all of them.
    for (let n = 0; n < fewestRounds || (n < mostRounds && isMoved()); n += 1)
      for (const [name, own] of found) own.push(await round(troubles[name] ?? well))
    expect(typical('is well')).toBeGreaterThanOrEqual(answerMs)
    const alone = found.get('is well') ?? []
    const spread = Math.max(...alone) / Math.min(...alone)
    if (isMoved() && spread > 1.1) tooLoud(context, `without trouble the rounds differ by ${spread.toFixed(2)}`)
    expect(isMoved(), JSON.stringify([...found])).toBe(false)
  })
}

describe('SQLite', () => {
  noisyEndpointTests(() => {
    const folder = temporaryFolder()
    const store = createSqliteStore({ path: join(folder.path, 'payments.db') })
    return {
      store,
      async close() {
        await store.close()
        folder.remove()
      },
    }
  })
})

describe.skipIf(postgresMissing)(
  `PostgreSQL${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let server: TestPostgres
    let schemas = 0
    beforeAll(async () => {
      server = await startPostgres()
    })
    afterAll(() => server?.remove())
    noisyEndpointTests(() => {
      schemas += 1
      const { connectionString } = server
      const store = createPostgresStore({ connectionString, schema: `noisy_${schemas}` })
      return { store, close: () => store.close() }
    })
  },
)
