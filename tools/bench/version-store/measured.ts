/** Measures both ways on a database, with equal connections, durability and effect. @module */
import { createPostgresVersionStore } from '@payment-integration/version-store/postgres'
import pg from 'pg'
import type { VersionStoreEffort } from './bench.js'

/** Versions per second. */
export interface Rates {
  readonly bare: number
  readonly ours: number
}

/** The output of this process, as JSON. */
export interface Measured {
  readonly withEffect: Rates
  readonly without: Rates
}

/** A way to handle one delivery. */
interface Way {
  handle(delivery: Delivery): Promise<unknown>
}

interface Delivery {
  readonly integrationAddress: string
  readonly chainId: string
  readonly txHash: string
  readonly version: number
}

const upsert = (table: string) => `INSERT INTO ${table} (integration_address, chain_id, tx_hash, version)
  VALUES ($1, $2, $3, $4) ON CONFLICT (integration_address, chain_id, tx_hash) DO UPDATE SET version = excluded.version`
const order = (table: string) => `INSERT INTO ${table} (tx_hash, version, state) VALUES ($1, $2, 'success')`
const integrationAddress = `0x${'a1'.repeat(20)}`

function bareWithEffect(pool: pg.Pool): Way {
  return {
    async handle({ chainId, txHash, version }) {
      const client = await pool.connect()
      await client.query('BEGIN')
      await client.query(upsert('bare_effect_versions'), [integrationAddress, chainId, txHash, version])
      await client.query(order('bare_effect_orders'), [txHash, version])
      await client.query('COMMIT')
      client.release()
    },
  }
}

function bareAlone(pool: pg.Pool): Way {
  return {
    handle: ({ chainId, txHash, version }) =>
      pool.query(upsert('bare_none_versions'), [integrationAddress, chainId, txHash, version]),
  }
}

function oursWithEffect(pool: pg.Pool): Way {
  const store = createPostgresVersionStore({ database: pool, table: 'ours_effect_versions' })
  return {
    handle: (delivery) =>
      store.advance(delivery, async (tx) => {
        await tx.query(order('ours_effect_orders'), [delivery.txHash, delivery.version])
      }),
  }
}

function oursAlone(pool: pg.Pool): Way {
  const store = createPostgresVersionStore({ database: pool, table: 'ours_none_versions' })
  return { handle: (delivery) => store.advance(delivery, () => {}) }
}

/**
 * Both take turns of a tenth of a second, and are first equally often. The rate covers all turns, so that a slow moment
 * affects both.
 */
async function compare(bare: Way, own: Way, { turns, turnMs, connections }: VersionStoreEffort): Promise<Rates> {
  let payment = 0
  const totals = new Map([bare, own].map((way) => [way, { handled: 0, ms: 0 }]))
  const run = async (way: Way) => {
    const begin = performance.now()
    let handled = 0
    const one = async () => {
      do {
        const txHash = `0x${(payment++).toString(16).padStart(64, '0')}`
        // First indexed, then settled.
        for (const version of [1, 2]) {
          await way.handle({ integrationAddress, chainId: '8453', txHash, version })
          handled++
        }
      } while (performance.now() - begin < turnMs)
    }
    await Promise.all(Array.from({ length: connections }, one))
    return { handled, ms: performance.now() - begin }
  }
  // Warms up connections, plans and the files of the tables.
  for (const way of [bare, own, bare, own]) await run(way)
  for (let turn = 0; turn < turns; turn++)
    for (const way of turn % 2 === 0 ? [bare, own] : [own, bare]) {
      const { handled, ms } = await run(way)
      const total = totals.get(way)
      if (total === undefined) continue
      total.handled += handled
      total.ms += ms
    }
  const rate = (way: Way) => {
    const { handled, ms } = totals.get(way) ?? { handled: 0, ms: 0 }
    return (handled / ms) * 1_000
  }
  return { bare: rate(bare), ours: rate(own) }
}

const [connectionString = '', effortJson = ''] = process.argv.slice(2)
const effort = JSON.parse(effortJson) as VersionStoreEffort
const pool = new pg.Pool({ connectionString, max: effort.connections })
for (const name of ['bare_effect', 'bare_none', 'ours_effect', 'ours_none']) {
  await createPostgresVersionStore({ database: pool, table: `${name}_versions` }).migrate()
  await pool.query(`CREATE TABLE ${name}_orders (tx_hash text, version bigint, state text)`)
}
const measured: Measured = {
  withEffect: await compare(bareWithEffect(pool), oursWithEffect(pool), effort),
  without: await compare(bareAlone(pool), oursAlone(pool), effort),
}
process.stdout.write(JSON.stringify(measured))
await pool.end()
