/** Opens installed queue libraries on PostgreSQL, set up as their manuals advise for throughput. @module */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Job } from '../payments.js'

/** The folder in which the libraries are installed. */
export const peersFolder = fileURLToPath(new URL('./peers/', import.meta.url))

/**
 * The libraries. pg-boss fetches and completes jobs in batches, and is fastest with large ones. A batch is fetched at
 * once and completed with its last job. So pg-boss is also measured with no more fetched jobs than the others have in
 * flight.
 */
export const peerNames = ['pg-boss, batches of 500', 'pg-boss, batches of 128', 'graphile-worker'] as const
export type PeerName = (typeof peerNames)[number]

/** Why the libraries are not measured, or null. */
export const peersMissing: string | null = existsSync(`${peersFolder}node_modules`)
  ? null
  : 'pg-boss and graphile-worker are not installed: npm ci --ignore-scripts --prefix tools/bench/notifications/peers'

/** A queue with a handler. */
export interface Queue {
  add(jobs: readonly Job[]): Promise<void>
  start(): Promise<void>
  /** Resolves when all handlers have finished. */
  stop(): Promise<void>
  close(): Promise<void>
}

/** Opens a library's queue on a database. @param folder - {@link peersFolder}. @param concurrency - Concurrent jobs. */
export function openPeer(
  name: PeerName,
  folder: string,
  connectionString: string,
  concurrency: number,
  handle: (job: Job) => Promise<void>,
): Promise<Queue> {
  const load = createRequire(`${folder}package.json`)
  if (name === 'graphile-worker') return openGraphile(load, connectionString, concurrency, handle)
  const batchSize = name === 'pg-boss, batches of 500' ? 500 : concurrency / bossWorkers
  return openBoss(load, connectionString, { queue: `deliveries-${batchSize}`, batchSize }, handle)
}

interface BossJob {
  readonly id: string
  readonly data: Job
}

interface Boss {
  on(event: 'error', listener: (error: Error) => void): void
  start(): Promise<unknown>
  stop(): Promise<void>
  createQueue(name: string): Promise<void>
  insert(jobs: readonly { readonly name: string; readonly data: Job }[]): Promise<unknown>
  work(name: string, options: object, handle: (jobs: readonly BossJob[]) => Promise<void>): Promise<string>
  fail(name: string, id: string, error: object): Promise<void>
  offWork(name: string): Promise<void>
  notifyWorker(id: string): void
}

/** Workers of pg-boss with separate batches: while one fetches or completes, the other posts. */
const bossWorkers = 2

// pg-boss polls at most twice a second, so a worker is woken after a full batch, and when jobs are added. A failed job
// fails alone, because the other jobs of its batch were sent.
async function openBoss(
  load: NodeJS.Require,
  connectionString: string,
  { queue, batchSize }: { readonly queue: string; readonly batchSize: number },
  handle: (job: Job) => Promise<void>,
): Promise<Queue> {
  const Boss = load('pg-boss') as new (options: object) => Boss
  const boss = new Boss({ connectionString, supervise: false, schedule: false })
  let workers: string[] = []
  boss.on('error', (error) => process.stderr.write(`${error.message}\n`))
  await boss.start()
  await boss.createQueue(queue)
  const notify = () => {
    for (const id of workers) boss.notifyWorker(id)
  }
  return {
    async add(jobs) {
      await boss.insert(jobs.map((data) => ({ name: queue, data })))
      notify()
    },
    async start() {
      const work = () =>
        boss.work(queue, { batchSize, pollingIntervalSeconds: 0.5 }, async (jobs) => {
          await Promise.all(
            jobs.map(({ id, data }) =>
              handle(data).catch((error: Error) => boss.fail(queue, id, { message: error.message })),
            ),
          )
          if (jobs.length === batchSize) notify()
        })
      workers = await Promise.all(Array.from({ length: bossWorkers }, work))
    },
    stop: () => boss.offWork(queue),
    close: () => boss.stop(),
  }
}

interface Graphile {
  run(options: object): Promise<{ stop(): Promise<void> }>
  runMigrations(options: object): Promise<void>
  Logger: new (factory: () => () => void) => object
}
interface Pool {
  query(text: string, values: readonly unknown[]): Promise<unknown>
  on(event: 'error', listener: () => void): void
  end(): Promise<void>
}

const graphileConnections = 20
const addJobs = `select count(*) from graphile_worker.add_jobs(array(
  select json_populate_record(null::graphile_worker.job_spec, spec) from json_array_elements($1::json) spec))`

/** NOTIFY wakes graphile-worker for new jobs, so it need not poll often. */
async function openGraphile(
  load: NodeJS.Require,
  connectionString: string,
  concurrency: number,
  handle: (job: Job) => Promise<void>,
): Promise<Queue> {
  const { run, runMigrations, Logger } = load('graphile-worker') as Graphile
  const { Pool } = load('pg') as { Pool: new (options: object) => Pool }
  const pgPool = new Pool({ connectionString, max: graphileConnections })
  pgPool.on('error', () => undefined)
  const logger = new Logger(() => () => undefined)
  await runMigrations({ pgPool, logger })
  let runner: { stop(): Promise<void> } | undefined
  return {
    async add(jobs) {
      await pgPool.query(addJobs, [JSON.stringify(jobs.map((payload) => ({ identifier: 'deliver', payload })))])
    },
    async start() {
      const taskList = { deliver: (payload: unknown) => handle(payload as Job) }
      runner = await run({ pgPool, concurrency, pollInterval: 1_000, noHandleSignals: true, taskList, logger })
    },
    stop: async () => runner?.stop(),
    close: () => pgPool.end(),
  }
}
