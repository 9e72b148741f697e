/** A server on a real chain with a receiver: what a backup is taken from, and what it is restored to. */
import { createPayer, deployDevRouter, devAccount, startAnvil } from '@payment-integration/chain-evm/dev'
import { expect } from 'vitest'
import { startRecordingReceiver } from '../../server/test/support/recording-receiver.js'
import { testMasterKey } from './master-key.js'
import { start } from './start-process.js'

const shop = `0x${'a1'.repeat(20)}`

/** Starts chain and receiver. Call inside a test: what it starts is stopped by `stop`. */
export async function startOutside() {
  const anvil = await startAnvil()
  const deployment = await deployDevRouter(anvil)
  const payer = createPayer({ ...anvil, deployment })
  const receiver = await startRecordingReceiver()
  const hashes: string[] = []
  const getEnv = (database: string): Record<string, string> => ({
    PI_ENV: 'development',
    PI_DATABASE_URL: database,
    PI_MASTER_KEY: testMasterKey,
    PI_LOG_LEVEL: 'warn',
    PI_RPC_URL_31337: anvil.rpcUrl,
    PI_ROUTERS_31337: `${deployment.router.address}@${deployment.router.version}`,
    PI_START_BLOCK_31337: '0',
    PI_POLL_MS_31337: '50',
    PI_LEASE_MS: '1000',
  })

  /** Runs a command to its end. */
  async function run(database: string, ...args: string[]) {
    const { exited, lines, errors } = start([...args, '--json'], getEnv(database))
    const [code] = await exited
    return { code, errors, events: lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
  }

  return {
    shop,
    hashes,
    receiver,
    run,
    /** Pays so many times; the transactions are mined when it resolves. */
    async pay(count: number): Promise<void> {
      for (let index = 0; index < count; index += 1)
        hashes.push(
          await payer.pay({
            integrationAddress: shop,
            receiver: devAccount(2).address,
            amount: 1_000_000n,
            memo: `order-${hashes.length}`,
          }),
        )
    },
    /** Serves a database until `stop`. */
    async serve(database: string) {
      const command = start(['serve', '--json'], getEnv(database))
      await command.line('"listening"')
      return {
        async stop() {
          command.child.kill('SIGTERM')
          await command.exited
        },
      }
    },
    async createShop(database: string): Promise<void> {
      const made = await run(database, 'integrations', 'create', shop, '--url', `${receiver.url}/`)
      expect(made).toMatchObject({ code: 0, errors: [] })
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
      const [
        {
          head: { seq, hash },
        } = { head: {} },
      ] = events as { head: { seq?: number; hash?: string } }[]
      return `${seq}:${hash}`
    },
    /** Checks a restored database as docs/backup.md says. */
    async checkWhole(database: string, head: string): Promise<void> {
      expect(await run(database, 'deliveries', 'check', '--repair')).toMatchObject({
        ...{ code: 0, errors: [] },
        events: [{ event: 'check.done', missing: 0 }],
      })
      expect(await run(database, 'audit', 'verify', '--expect', head)).toMatchObject({
        code: 0,
        errors: [],
        events: [{ ok: true, expected: true }],
      })
      const dry = await run(database, 'reindex', '--chain', '31337', '--from', '0', '--dry-run')
      expect(dry).toMatchObject({ code: 0, errors: [] })
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
    async stop() {
      await receiver.stop()
      await anvil.stop()
    },
  }
}
