/** Compares catching up with a chain to a program without our layers. @module */
import { type ChildProcess, fork } from 'node:child_process'
import { loadavg } from 'node:os'
import pg from 'pg'
import { median } from '../measure.js'
import type { BenchDatabase } from '../read-api/database.js'
import { masterKey, serviceOn } from '../read-api/dataset.js'
import type { ChainPlan, FilledChain } from './chain.js'
import { compiled } from './compiled.js'
import { integrationAddress } from './integration.js'
import { peers, runPeer } from './peers.js'
import { type Line, type ReplayCounts, type ReplayNode, recordPlan } from './replay/replay.js'

type Plan = ChainPlan & { readonly name: string }

/** Result of one run. */
interface Run {
  readonly seconds: number
  readonly peakMiB: number
  readonly asked: ReplayCounts
}

/** The measured programs as plain JavaScript. */
const programs = { ours: compiled('ours'), floor: compiled('floor') }
type ProgramName = keyof typeof programs
const programNames = Object.keys(programs) as readonly ProgramName[]

/** How much to measure. */
export interface SyncEffort {
  readonly rounds: number
  readonly lines: readonly Line[]
}

/** Records a chain once, and catches up with it on each database in turns. Returns Markdown. */
export async function benchSync(
  openers: readonly (() => Promise<BenchDatabase>)[],
  plan: Plan,
  { rounds, lines: asked }: SyncEffort,
): Promise<string> {
  const lines: string[] = []
  const peerLines: string[] = []
  const calls = new Map<string, ReplayCounts>()
  const recording = await recordPlan(plan)
  try {
    for (const each of asked) {
      const node = await recording.open(each)
      const name = `${each.latencyMs} ms${each.raw === true ? ', raw receipts' : ''}`
      for (const open of openers) {
        const { line, engine, oursPerSecond, asked } = await compare(plan, node, { open, name, rounds })
        lines.push(line)
        calls.set(each.raw === true ? 'ours with raw receipts' : 'ours', asked)
        // The peers ask for no raw receipts.
        if (engine === 'PostgreSQL' && each.raw !== true)
          peerLines.push(...(await besidePeers(plan, node, { open, name, oursPerSecond })))
      }
      await node.stop()
    }
  } finally {
    await recording.remove()
  }
  return [
    `### Catching up with ${plan.name}, from process start to the head`,
    '',
    `Load ${loadavg()[0]?.toFixed(1)}; ${rounds} rounds.`,
    '',
    '| added latency, database | ours, payments/s | floor, payments/s | ours of floor | ours, seconds | ours, peak MiB | floor, peak MiB |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
    ...[...calls].map(([name, { requests, bytes, calls: by }]) => {
      const thousands = (recording.head + 1) / 1_000
      const methods = Object.entries(by).map(([method, count]) => `${method} ${(count / thousands).toFixed(0)}`)
      const all = Object.values(by).reduce((sum, count) => sum + count, 0) / thousands
      return `Of 1,000 blocks ${name} asked with ${all.toFixed(0)} calls in ${(requests / thousands).toFixed(0)} requests for ${(bytes / thousands / 2 ** 20).toFixed(1)} MiB: ${methods.join(', ')}.`
    }),
    '',
    ...(peerLines.length === 0
      ? ['Other indexers are not installed; tools/bench/README.md says how.']
      : [
          '| added latency, indexer on PostgreSQL | payments/s | ours is so many times as fast |',
          '| --- | --- | --- |',
          ...peerLines,
        ]),
    '',
  ].join('\n')
}

interface Turn {
  readonly open: () => Promise<BenchDatabase>
  /** Of the node and its line. */
  readonly name: string
}

async function besidePeers(
  plan: Plan,
  chain: FilledChain,
  { open, name: line, oursPerSecond }: Turn & { readonly oursPerSecond: number },
) {
  const lines = []
  for (const peer of peers) {
    const name = `${line}, ${peer.name}`
    const database = await open()
    try {
      const { seconds, stored } = await runPeer(peer, chain, database, plan.payments)
      const perSecond = stored / seconds
      const stopped = stored < plan.payments ? `, stopped after ${seconds.toFixed(0)} s with ${stored} stored` : ''
      lines.push(`| ${name}${stopped} | ${perSecond.toFixed(0)} | ${(oursPerSecond / perSecond).toFixed(1)} |`)
    } catch (error) {
      lines.push(`| ${name} | ${error instanceof Error ? error.message : error} | |`)
    } finally {
      await database.remove()
    }
  }
  return lines
}

async function compare(plan: Plan, node: ReplayNode, { open, name, rounds }: Turn & { readonly rounds: number }) {
  const runs: Record<ProgramName, Run>[] = []
  let engine = ''
  for (let round = 0; round < rounds; round += 1) {
    const turn = {} as Record<ProgramName, Run>
    for (const name of programNames) {
      const database = await open()
      engine = database.engine
      try {
        if (name === 'ours') await prepare(database)
        turn[name] = await run(name, node, database)
        await assertAll(name, database, plan.payments)
      } finally {
        await database.remove()
      }
    }
    runs.push(turn)
  }
  const rate = (of: ProgramName) => median(runs.map((each) => plan.payments / each[of].seconds))
  const peak = (of: ProgramName) => Math.max(...runs.map((each) => each[of].peakMiB)).toFixed(0)
  const ratio = median(runs.map(({ ours, floor }) => floor.seconds / ours.seconds)).toFixed(2)
  const seconds = median(runs.map(({ ours }) => ours.seconds)).toFixed(1)
  const cells = [`${name}, ${engine}`, rate('ours').toFixed(0), rate('floor').toFixed(0), ratio, seconds]
  const line = `| ${[...cells, peak('ours'), peak('floor')].join(' | ')} |`
  const asked = runs.at(-1)?.ours.asked ?? { requests: 0, bytes: 0, calls: {} }
  return { line, engine, oursPerSecond: rate('ours'), asked }
}

/** The schema, and an integration that is notified of every payment. */
async function prepare(database: BenchDatabase): Promise<void> {
  const store = database.openStore()
  await store.migrate()
  const notificationUrl = 'https://receiver.example/hook'
  await serviceOn(store).integrations.create({ address: integrationAddress, notificationUrl })
  await store.close()
}

async function run(name: ProgramName, node: ReplayNode, database: BenchDatabase): Promise<Run> {
  const { chainId, rpcUrl, router, firstBlock, head } = node
  const before = await node.counts()
  const begun = performance.now()
  const child = fork(programs[name], {
    // Resolves packages to their built code, too.
    execArgv: [],
    env: {
      ...process.env,
      TO: String(head),
      PI_DATABASE_URL: database.url,
      PI_MASTER_KEY: masterKey,
      PI_LOG_LEVEL: 'error',
      [`PI_RPC_URL_${chainId}`]: rpcUrl,
      [`PI_ROUTERS_${chainId}`]: `${router.address}@${router.version}`,
      [`PI_START_BLOCK_${chainId}`]: String(firstBlock),
      RPC_URL: rpcUrl,
      ROUTER: router.address,
      FROM: String(firstBlock),
      RANGE: String(Math.max(50, Math.min(500, Math.round(head / 100)))),
      NODE_ENV: 'production',
    },
  })
  const peakKiB = await ended(child)
  const seconds = (performance.now() - begun) / 1_000
  return { seconds, peakMiB: peakKiB / 1_024, asked: difference(await node.counts(), before) }
}

function difference(after: ReplayCounts, before: ReplayCounts): ReplayCounts {
  const calls = Object.entries(after.calls).map(
    ([method, count]) => [method, count - (before.calls[method] ?? 0)] as const,
  )
  return {
    requests: after.requests - before.requests,
    bytes: after.bytes - before.bytes,
    calls: Object.fromEntries(calls.filter(([, count]) => count > 0)),
  }
}

/** Resolves the process's peak memory in KiB, which it reports at its exit. */
function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let peakKiB = Number.NaN
    child.on('message', (message: { readonly peakKiB: number }) => {
      peakKiB = message.peakKiB
    })
    child.once('exit', (code) =>
      code === 0 ? resolve(peakKiB) : reject(new Error(`A measured process ended with code ${code}.`)),
    )
  })
}

/** A run that lost payments is invalid. */
async function assertAll(name: string, database: BenchDatabase, payments: number): Promise<void> {
  const tables = name === 'ours' ? ['payments', 'snapshots', 'outbox'] : ['payments', 'outbox']
  for (const table of tables) {
    const found = await count(
      database,
      name === 'ours' && database.engine === 'PostgreSQL' ? `payment_integration.${table}` : table,
    )
    if (found !== payments) throw new Error(`${name} stored ${found} rows of ${table} for ${payments} payments.`)
  }
}

async function count(database: BenchDatabase, table: string): Promise<number> {
  const text = `select count(*) as n from ${table}`
  if (database.engine === 'SQLite') {
    const { DatabaseSync } = await import('@photostructure/sqlite')
    const file = new DatabaseSync(database.url.slice('sqlite:'.length), { readOnly: true })
    const [row] = file.prepare(text).all() as { n: number }[]
    file.close()
    return Number(row?.n)
  }
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const { rows } = await client.query<{ n: string }>(text)
  await client.end()
  return Number(rows[0]?.n)
}
