/** Measures catching up with a chain, by database and latency, and against other indexers. @module */
import { type BenchDatabase, createServiceOn, type Engine, masterKey, openDatabase } from '../databases.js'
import { type Bundles, bundle, startWorker } from '../processes.js'
import { type Cell, median, round, type Table } from '../report.js'
import type { CallCounts, ChainPlan, NodeTraits, ReplayNode } from './chain.js'
import { integrationAddress, recordChain } from './chain.js'
import type { Ours } from './ours.js'
import { peers, runPeer } from './peers.js'

export interface SyncEffort extends ChainPlan {
  readonly rounds: number
  readonly nodes: readonly NodeTraits[]
}

interface Run {
  readonly seconds: number
  readonly peakMiB: number
  readonly asked: CallCounts
}

const engines: readonly Engine[] = ['SQLite', 'PostgreSQL']

/** Records a chain once, and catches up with it on each node and database in turns. */
export async function benchSync(effort: SyncEffort): Promise<Table[]> {
  const bundles = await bundle(['indexer/node.ts', 'indexer/ours.ts'])
  const recording = await recordChain(effort, bundles.findPath('node'))
  const [rows, peerRows]: Cell[][][] = [[], []]
  const notes: string[] = []
  try {
    for (const traits of effort.nodes) {
      const node = await recording.open(traits)
      const name = `${traits.latencyMs} ms${traits.raw === true ? ', raw receipts' : ''}`
      for (const engine of engines) {
        const { row, perSecond, asked } = await catchUp(bundles, node, engine, effort)
        rows?.push([`${name}, ${engine}`, ...row])
        if (engine === 'SQLite') continue
        notes.push(
          `${name}: ${asked.calls} calls in ${asked.requests} requests for ${recording.blocks} blocks, ${(asked.bytes / 2 ** 20).toFixed(1)} MiB.`,
        )
        // The peers ask for no raw receipts.
        if (traits.raw !== true) peerRows?.push(...(await comparePeers(node, name, effort.payments, perSecond)))
      }
      await node.stop()
    }
  } finally {
    await recording.remove()
    await bundles.remove()
  }
  const [size, blocks] = [effort.payments, effort.payments / effort.perBlock].map((each) => each.toLocaleString('en'))
  const title = `Catching up with ${size} payments in ${blocks} blocks`
  return [
    { title, columns: ['added latency, database', 'payments/s', 'seconds', 'peak MiB'], rows: rows ?? [], notes },
    {
      title: `${title}: other indexers on PostgreSQL`,
      columns: ['added latency, indexer', 'payments/s', 'ours is so many times as fast'],
      rows: peerRows ?? [],
      notes: peers.length > 0 ? [] : ['Other indexers are not installed: tools/bench/README.md says how.'],
    },
  ]
}

async function catchUp(bundles: Bundles, node: ReplayNode, engine: Engine, { payments, rounds }: SyncEffort) {
  const runs: Run[] = []
  for (let turn = 0; turn < rounds; turn += 1) {
    const database = await openDatabase(engine)
    try {
      await prepare(database)
      runs.push(await run(bundles.findPath('ours'), node, database))
      await assertAll(database, payments)
    } finally {
      await database.end()
    }
  }
  const seconds = median(runs.map((each) => each.seconds))
  const perSecond = payments / seconds
  const row = [round(perSecond), round(seconds, 1), round(Math.max(...runs.map(({ peakMiB }) => peakMiB)))]
  return { row, perSecond, asked: runs.at(-1)?.asked ?? { requests: 0, calls: 0, bytes: 0 } }
}

/** Creates the schema, and an integration that is notified of every payment. */
async function prepare(database: BenchDatabase): Promise<void> {
  const store = database.openStore()
  await store.migrate()
  const notificationUrl = 'https://receiver.example/hook'
  await createServiceOn(store).integrations.create({ address: integrationAddress, notificationUrl })
  await store.close()
}

async function run(program: string, node: ReplayNode, { url }: BenchDatabase): Promise<Run> {
  const { chainId, rpcUrl, router, firstBlock, head } = node
  const before = await node.counts()
  const startedAt = performance.now()
  const worker = startWorker<Ours>(program, [], {
    PI_DATABASE_URL: url,
    PI_MASTER_KEY: masterKey,
    PI_LOG_LEVEL: 'error',
    [`PI_RPC_URL_${chainId}`]: rpcUrl,
    [`PI_ROUTERS_${chainId}`]: `${router.address}@${router.version}`,
    [`PI_START_BLOCK_${chainId}`]: String(firstBlock),
  })
  const { peakMiB } = await worker.ask('catchUp', head).finally(() => worker.stop())
  const seconds = (performance.now() - startedAt) / 1_000
  const { requests, calls, bytes } = await node.counts()
  const traffic = { requests: requests - before.requests, calls: calls - before.calls, bytes: bytes - before.bytes }
  return { seconds, peakMiB, asked: traffic }
}

/** A run that lost payments is invalid. */
async function assertAll(database: BenchDatabase, payments: number): Promise<void> {
  const connection = await database.connect()
  for (const table of ['payments', 'snapshots', 'outbox']) {
    const [found] = await connection.all(`select count(*) as n from ${table}`)
    if (Number(found?.['n']) !== payments) throw new Error(`${found?.['n']} rows of ${table} for ${payments} payments.`)
  }
  await connection.close()
}

async function comparePeers(node: ReplayNode, nodeName: string, payments: number, oursPerSecond: number) {
  const rows: Cell[][] = []
  for (const peer of peers) {
    const database = await openDatabase('PostgreSQL')
    try {
      const { seconds, stored } = await runPeer(peer, node, database.url, payments)
      const perSecond = stored / seconds
      const stopped = stored < payments ? `, stopped after ${seconds.toFixed(0)} s with ${stored} stored` : ''
      rows.push([`${nodeName}, ${peer.name}${stopped}`, round(perSecond), round(oursPerSecond / perSecond, 1)])
    } catch (error) {
      rows.push([`${nodeName}, ${peer.name}: ${error instanceof Error ? error.message : error}`, null, null])
    } finally {
      await database.end()
    }
  }
  return rows
}
