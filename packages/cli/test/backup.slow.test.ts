/** Backup, restore and point in time, as docs/backup.md says. */
import { chownSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPayer, deployDevRouter, deriveDevAccount, startAnvil } from '@payment-integration/chain-evm/dev'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { startRecordingReceiver } from '../../server/test/support/recording-receiver.js'
import { postgresMissing, startPostgres } from '../../store-sql/test/postgres.js'
import { testMasterKey } from './master-key.js'
import { runToEnd, start } from './start-process.js'
import { temporaryFolder } from './temporary-folder.js'

const shop = `0x${'a1'.repeat(20)}`

/** A real chain with a receiver, and the commands of a server between them. They stop with the test. */
async function startOutside() {
  const anvil = await startAnvil()
  const deployment = await deployDevRouter(anvil)
  const payer = createPayer({ ...anvil, deployment })
  const receiver = await startRecordingReceiver()
  onTestFinished(receiver.stop)
  onTestFinished(anvil.stop)
  const hashes: string[] = []
  const payment = { integrationAddress: shop, receiver: deriveDevAccount(2).address, amount: 1_000_000n }
  const getEnv = (database: string): Record<string, string> => ({
    PI_ENV: 'development',
    PI_DATABASE_URL: database,
    PI_MASTER_KEY: testMasterKey,
    PI_LOG_LEVEL: 'warn',
    PI_RPC_URL_31337: anvil.rpcUrl,
    PI_START_BLOCK_31337: '0',
    PI_POLL_MS_31337: '50',
    PI_LEASE_MS: '1000',
    PI_ROUTERS_31337: `${deployment.router.address}@${deployment.router.version}`,
  })
  const run = (database: string, ...args: string[]) => runToEnd(args, getEnv(database))

  return {
    hashes,
    receiver,
    run,
    /** Pays so many times; the transactions are mined when it resolves. */
    async pay(count: number): Promise<void> {
      for (let index = 0; index < count; index += 1)
        hashes.push(await payer.pay({ ...payment, memo: `order-${hashes.length}` }))
    },
    /** Serves a database until `stop`. */
    async serve(database: string) {
      const command = start(['serve', '--json'], getEnv(database))
      await command.line('"listening"')
      const stop = async () => {
        command.child.kill('SIGTERM')
        await command.exited
      }
      return { stop }
    },
    async createShop(database: string): Promise<void> {
      const created = await run(database, 'integrations', 'create', shop, '--url', `${receiver.url}/`)
      expect(created).toMatchObject({ code: 0, errors: [] })
    },
    /** Resolves once the receiver has got these payments, since `from` of its log. */
    async delivered(wanted: readonly string[] = hashes, from = 0): Promise<void> {
      const missing = () => {
        const got = new Set(receiver.arrived.slice(from).map(({ body }) => JSON.parse(String(body)).txHash as string))
        return wanted.filter((hash) => !got.has(hash))
      }
      await expect.poll(missing, { timeout: 500_000, interval: 100 }).toEqual([])
    },
    /** The newest audit record as `<seq>:<hash>`. */
    async auditHead(database: string): Promise<string> {
      const { events } = await run(database, 'audit', 'head')
      const [{ head } = {}] = events as { head?: { seq: number; hash: string } }[]
      return `${head?.seq}:${head?.hash}`
    },
    /** Checks a restored database as docs/backup.md says. */
    async checkWhole(database: string, head: string): Promise<void> {
      const done = { code: 0, errors: [] }
      const check = await run(database, 'deliveries', 'check', '--repair')
      expect(check).toMatchObject({ ...done, events: [{ event: 'check.done', missing: 0 }] })
      const verified = await run(database, 'audit', 'verify', '--expect', head)
      expect(verified).toMatchObject({ ...done, events: [{ ok: true, expected: true }] })
      const dry = await run(database, 'reindex', '--chain', '31337', '--from', '0', '--dry-run')
      expect(dry).toMatchObject(done)
      expect(dry.events.at(-1)).toMatchObject({ event: 'summary', differences: 0, dryRun: true })
    },
    /** How many different bodies the receiver got of one version of one payment, at most: one is right. */
    maxBodies(): number {
      const bodies = new Map<string, Set<string>>()
      for (const { body } of receiver.arrived) {
        const { chainId, txHash, version } = JSON.parse(String(body)) as Record<string, unknown>
        const key = `${chainId} ${txHash} ${version}`
        bodies.set(key, (bodies.get(key) ?? new Set()).add(String(body)))
      }
      return Math.max(...[...bodies.values()].map((each) => each.size))
    },
  }
}

test('a SQLite copy that was made under load is whole, and its server delivers what came after it', async () => {
  const outside = await startOutside()
  const folder = temporaryFolder()
  const [database, copy] = [`sqlite:${join(folder, 'service.db')}`, join(folder, 'copy.db')]
  await outside.createShop(database)
  const first = await outside.serve(database)
  await outside.pay(3)
  await outside.delivered()
  const head = await outside.auditHead(database)
  let isBackedUp = false
  const backup = outside.run(database, 'backup', copy).finally(() => {
    isBackedUp = true
  })
  while (!isBackedUp) await outside.pay(1)
  expect(await backup).toMatchObject({ code: 0, events: [{ event: 'backup', file: copy }] })
  const later = outside.hashes.length
  await outside.pay(3)
  await outside.delivered()
  await first.stop()

  const restored = `sqlite:${copy}`
  await outside.checkWhole(restored, head)
  const before = outside.receiver.arrived.length
  const second = await outside.serve(restored)
  await outside.pay(1)
  await outside.delivered(outside.hashes.slice(later), before)
  await second.stop()
  await outside.checkWhole(restored, head)
  expect(outside.maxBodies()).toBe(1)
})

/** Runs statements on one connection. */
async function onPostgres<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** What pg_basebackup does, by the functions that it calls: Debian's is older than the server of the tests. */
function baseBackup(connectionString: string, data: string, copy: string): Promise<void> {
  return onPostgres(connectionString, async (client) => {
    await client.query("select pg_backup_start('nightly', fast => true)")
    const excluded = ['pg_wal', 'postmaster.pid', 'postmaster.opts']
    cpSync(data, copy, { recursive: true, filter: (path) => !excluded.some((name) => path === join(data, name)) })
    for (const name of ['pg_wal', 'pg_wal/archive_status', 'pg_wal/summaries']) mkdirSync(join(copy, name))
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()')
    writeFileSync(join(copy, 'backup_label'), rows[0]?.labelfile ?? '')
  })
}

/** PostgreSQL does not run as root. */
function giveAway(folder: string): void {
  if (process.getuid?.() !== 0) return
  chownSync(folder, 65_534, 65_534)
  for (const name of readdirSync(folder, { recursive: true }) as string[]) chownSync(join(folder, name), 65_534, 65_534)
}

test.skipIf(postgresMissing !== null)(
  `PostgreSQL is restored to the moment before a mistake, and delivers what came after it again${postgresMissing ?? ''}`,
  async () => {
    const outside = await startOutside()
    const folder = temporaryFolder()
    const [archive, home] = [join(folder, 'archive'), join(folder, 'restored')]
    for (const each of [archive, home]) mkdirSync(each)
    giveAway(folder)
    const archived = ['wal_level=replica', 'archive_mode=on', `archive_command=cp %p ${archive}/%f`]
    const server = await startPostgres({ settings: archived })
    onTestFinished(server.remove)
    const database = server.connectionString
    expect(await outside.run(database, 'migrate', 'apply')).toMatchObject({ code: 0 })
    await outside.createShop(database)
    const first = await outside.serve(database)
    await outside.pay(3)
    await outside.delivered()
    await baseBackup(database, join(server.folder, 'data'), join(home, 'data'))
    await outside.pay(3)
    await outside.delivered()
    const head = await outside.auditHead(database)
    await onPostgres(database, (client) => client.query("select pg_create_restore_point('before_the_mistake')"))
    const later = outside.hashes.length
    await outside.pay(3)
    await outside.delivered()
    await first.stop()
    await onPostgres(database, async (client) => {
      await client.query('delete from payment_integration.audit')
      const { rows } = await client.query<{ name: string }>('select pg_walfile_name(pg_switch_wal()) as name')
      await expect.poll(() => readdirSync(archive), { timeout: 500_000 }).toContain(rows[0]?.name)
    })
    expect(await outside.run(database, 'audit', 'verify', '--expect', head)).toMatchObject({ code: 1 })
    await server.halt()

    writeFileSync(join(home, 'data', 'recovery.signal'), '')
    giveAway(home)
    const restoring = [`restore_command=cp ${archive}/%f %p`, 'recovery_target_name=before_the_mistake']
    const again = await startPostgres({ folder: home, settings: [...restoring, 'recovery_target_action=promote'] })
    onTestFinished(again.remove)
    const restored = again.connectionString
    const recovering = () =>
      onPostgres(restored, async (client) => (await client.query('select pg_is_in_recovery() as yes')).rows[0]?.yes)
    await expect.poll(recovering, { timeout: 500_000 }).toBe(false)
    await outside.checkWhole(restored, head)
    const before = outside.receiver.arrived.length
    const second = await outside.serve(restored)
    await outside.delivered(outside.hashes.slice(later), before)
    await second.stop()
    await outside.checkWhole(restored, head)
    expect(outside.maxBodies()).toBe(1)
    rmSync(archive, { recursive: true })
  },
)
