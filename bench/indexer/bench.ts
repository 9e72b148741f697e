/** Compares catching up with a chain to a program without our layers. @module */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import pg from 'pg'
import { median } from '../measure.js'
import type { BenchDatabase } from '../read-api/database.js'
import { masterKey, serviceOn } from '../read-api/dataset.js'
import { type ChainPlan, type FilledChain, fillChain } from './chain.js'
import { integrationAddress } from './integration.js'
import { peers, runPeer } from './peers.js'

type Plan = ChainPlan & { readonly name: string }

/** Result of one run. */
interface Run {
  readonly seconds: number
  readonly peakMiB: number
}

const floorPath = compiled('floor')

/** The measured programs as plain JavaScript, so that no compilation is measured. */
const programs = {
  ours: { path: compiled('ours'), env: {} },
  floor: { path: floorPath, env: { RECEIPTS: '0' } },
  receipts: { path: floorPath, env: { RECEIPTS: '1' } },
}

type ProgramName = keyof typeof programs
const programNames = Object.keys(programs) as readonly ProgramName[]

function compiled(name: string): string {
  const outfile = fileURLToPath(new URL(`../../node_modules/.cache/bench/${name}.mjs`, import.meta.url))
  const entryPoints = [fileURLToPath(new URL(`./${name}.ts`, import.meta.url))]
  buildSync({ entryPoints, outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm' })
  return outfile
}

/** Fills a chain once, and catches up with it on each database in turns. Returns Markdown. */
export async function benchSync(
  openers: readonly (() => Promise<BenchDatabase>)[],
  plan: Plan,
  rounds: number,
): Promise<string> {
  const lines = []
  const peerLines = []
  const chain = await fillChain(plan)
  try {
    for (const open of openers) {
      const { line, engine, oursPerSecond } = await compare(plan, chain, open, rounds)
      lines.push(line)
      if (engine === 'PostgreSQL') peerLines.push(...(await besidePeers(plan, chain, open, oursPerSecond)))
    }
  } finally {
    await chain.stop()
  }
  return [
    `### Catching up with ${plan.name}, from process start to the head`,
    '',
    '| database | ours, payments/s | floor, payments/s | ours of floor | floor with receipts, of floor | ours of that | ours, seconds | ours, peak MiB | floor, peak MiB |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
    ...(peerLines.length === 0
      ? ['Other indexers are not installed; bench/README.md says how.']
      : ['| indexer, PostgreSQL | payments/s | ours is so many times as fast |', '| --- | --- | --- |', ...peerLines]),
    '',
  ].join('\n')
}

async function besidePeers(plan: Plan, chain: FilledChain, open: () => Promise<BenchDatabase>, oursPerSecond: number) {
  const lines = []
  for (const peer of peers) {
    const database = await open()
    try {
      const { seconds, stored } = await runPeer(peer, chain, database, plan.payments)
      const perSecond = stored / seconds
      const stopped = stored < plan.payments ? `, stopped after ${seconds.toFixed(0)} s with ${stored} stored` : ''
      lines.push(`| ${peer.name}${stopped} | ${perSecond.toFixed(0)} | ${(oursPerSecond / perSecond).toFixed(1)} |`)
    } catch (error) {
      lines.push(`| ${peer.name} | ${error instanceof Error ? error.message : error} | |`)
    } finally {
      await database.remove()
    }
  }
  return lines
}

async function compare(plan: Plan, chain: FilledChain, open: () => Promise<BenchDatabase>, rounds: number) {
  const runs: Record<ProgramName, Run>[] = []
  let engine = ''
  for (let round = 0; round < rounds; round += 1) {
    const turn = {} as Record<ProgramName, Run>
    for (const name of programNames) {
      const database = await open()
      engine = database.engine
      try {
        if (name === 'ours') await prepare(database)
        turn[name] = await run(name, chain, database)
        await assertAll(name, database, plan.payments)
      } finally {
        await database.remove()
      }
    }
    runs.push(turn)
  }
  const rate = (of: ProgramName) => median(runs.map((each) => plan.payments / each[of].seconds))
  const peak = (of: ProgramName) => Math.max(...runs.map((each) => each[of].peakMiB))
  const ratio = (of: ProgramName, to: ProgramName) =>
    median(runs.map((each) => each[to].seconds / each[of].seconds)).toFixed(2)
  const seconds = median(runs.map(({ ours }) => ours.seconds))
  const line = `| ${engine} | ${rate('ours').toFixed(0)} | ${rate('floor').toFixed(0)} | ${ratio('ours', 'floor')} | ${ratio('receipts', 'floor')} | ${ratio('ours', 'receipts')} | ${seconds.toFixed(1)} | ${peak('ours').toFixed(0)} | ${peak('floor').toFixed(0)} |`
  return { line, engine, oursPerSecond: rate('ours') }
}

/** The schema, and an integration that is notified of every payment. */
async function prepare(database: BenchDatabase): Promise<void> {
  const store = database.openStore()
  await store.migrate()
  const notificationUrl = 'https://receiver.example/hook'
  await serviceOn(store).integrations.create({ address: integrationAddress, notificationUrl })
  await store.close()
}

async function run(name: ProgramName, chain: FilledChain, database: BenchDatabase): Promise<Run> {
  const { chainId, rpcUrl, router, firstBlock, head } = chain
  const begun = performance.now()
  const child = fork(programs[name].path, {
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
      RANGE: String(Math.max(200, Math.min(2_000, Math.round(head / 100)))),
      NODE_ENV: 'production',
      ...programs[name].env,
    },
  })
  const peakKiB = await ended(child)
  return { seconds: (performance.now() - begun) / 1_000, peakMiB: peakKiB / 1_024 }
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
