/**
 * docs/interface.md 4.2, over HTTP and on both engines: neither the time of an answer nor its statements reveal
 * anything about the account.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Identity } from '@payment-integration/core/identity'
import type { Store } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../store-sql/test/postgres.js'
import { basic } from './support/integration-service.js'
import { type Exchange, exchange } from './support/raw-exchange.js'
import { besideSharing, startSharingServer } from './support/start-sharing-server.js'
import { differences, type OpenKinds } from './support/timing.js'

const seed = Date.now() & 0x7fffffff
const samples = 200
const address = `0x${'a1'.repeat(20)}`
const states = ['owned', 'carried unverified', 'of a placeholder', 'unknown'] as const
type State = (typeof states)[number]
const stops: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

interface Opened {
  readonly database: string
  readonly store: Store
}

// An insert writes more pages than an update of a row, which takes 0.1 ms more on a slow disk
// (docs/decisions/identity.md). So the disk is left out where that is possible, and PostgreSQL runs without fsync.
const files = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

async function onSqlite(): Promise<Opened> {
  const folder = await mkdtemp(join(files, 'payment-integration-sharing-'))
  stops.push(() => rm(folder, { recursive: true, force: true }))
  const database = join(folder, 'timing.db')
  return { database, store: createSqliteStore({ path: database }) }
}

async function onPostgres(): Promise<Opened> {
  const { connectionString, remove } = await startPostgres({ fsync: false })
  stops.push(remove)
  return { database: connectionString, store: createPostgresStore({ connectionString }) }
}

/** A service on a database of its own, with an integration. */
async function serve(open: () => Promise<Opened>) {
  const { database, store } = await open()
  stops.push(() => store.close())
  await store.migrate()
  const { service, stop } = besideSharing(store)
  stops.push(stop)
  const { identity } = service
  if (identity === null) throw new Error('Sharing is off.')
  const { apiSecret } = await service.integrations.create({ address })
  return { database, identity, authorization: basic(address, apiSecret) }
}

let addresses = 0
/** Addresses without a share, each in this state. */
async function prepare(identity: Identity, state: State, count: number): Promise<string[]> {
  const emails = Array.from({ length: count }, () => `user${String(++addresses).padStart(8, '0')}@shop.example`)
  const accounts = await identity.accounts()
  for (const email of emails) {
    if (state === 'owned') await accounts.proveByCode(email, (await accounts.requestCode(email)).code)
    if (state === 'carried unverified') await accounts.register(email)
    if (state === 'of a placeholder')
      await expect(identity.share({ integrationAddress: address, email, shareToken: 'x' })).rejects.toMatchObject({
        code: 'ERR_SHARE_TOKEN_REJECTED',
      })
  }
  return emails
}

function requestOf(email: string, authorization: string): string {
  const body = JSON.stringify({ email, kycShareToken: 'good' })
  const headers = [
    `Authorization: ${authorization}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  return ['POST /api/v1/integration/idv-share-token HTTP/1.1', 'Host: localhost', ...headers, '', body].join('\r\n')
}

const measured = [
  ['SQLite', null, onSqlite],
  ['PostgreSQL', postgresMissing, onPostgres],
] as const

describe.each(measured)('on %s', (_, missing, open) => {
  it.skipIf(missing !== null)('a share takes the same time in every state of the account, within 5 %', async () => {
    const { database, identity, authorization } = await serve(open)
    const openKinds: OpenKinds = async () => {
      const prepared = new Map<State, string[]>()
      for (const state of states) prepared.set(state, await prepare(identity, state, samples + Math.ceil(samples / 4)))
      const server = await startSharingServer(database, 'instant')
      const connections: Exchange[] = []
      const kinds = new Map<State, () => Promise<unknown>>()
      for (const [state, emails] of prepared) {
        // One for each: the server closes a connection after a thousand requests.
        const connection = await exchange(server.url)
        connections.push(connection)
        kinds.set(state, async () => {
          connection.send(requestOf(emails.pop() ?? '', authorization))
          const [answer] = await connection.answers(1)
          if (answer?.status !== 200 || !answer.body.includes('"reused":true'))
            throw new Error(`The share was answered ${answer?.status} ${answer?.body}.`)
        })
      }
      const close = async () => {
        for (const connection of connections) connection.destroy()
        await server.stop()
      }
      return { kinds: Object.fromEntries(kinds), close }
    }
    const found = await differences(openKinds, { seed, samples, tolerated: 0.05 })
    expect(found, `seed ${seed}`).toEqual([])
  })
})

it.skipIf(postgresMissing !== null)(
  'PostgreSQL runs the same statements in the same order in every state of the account',
  async () => {
    const { identity } = await serve(onPostgres)
    const share = (email: string) => identity.share({ integrationAddress: address, email, shareToken: 'good' })
    const texts = new Map<State, string[]>()
    // Twice: a connection runs its one-time statements at its first share.
    for (const state of [...states, ...states]) {
      const [email = ''] = await prepare(identity, state, 1)
      texts.set(state, await statementsOf(() => share(email)))
    }
    expect(texts.get('unknown')?.length).toBeGreaterThan(8)
    for (const state of states) expect(texts.get(state), state).toEqual(texts.get('unknown'))
  },
)

/** Statements that the connections of this process run meanwhile. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const ran: string[] = []
  const { query } = pg.Client.prototype
  const noting = function (this: pg.Client, ...args: unknown[]): unknown {
    const [statement] = args as [string | { readonly text: string }]
    ran.push(typeof statement === 'string' ? statement : statement.text)
    return Reflect.apply(query, this, args)
  }
  pg.Client.prototype.query = noting as typeof query
  try {
    await work()
  } finally {
    pg.Client.prototype.query = query
  }
  return ran
}
