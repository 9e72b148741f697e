/** Runs status and reindex as processes beside a server that follows a real chain. */
import { join } from 'node:path'
import type { Anvil, DevDeployment } from '@payment-integration/chain-evm/dev'
import { createPayer, deployDevRouter, deriveDevAccount, startAnvil } from '@payment-integration/chain-evm/dev'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqlite } from '../src/files.js'
import { runCli } from '../src/run-cli.js'
import { testMasterKey } from './master-key.js'
import { runToEnd, start } from './start-process.js'
import { temporaryFolder } from './temporary-folder.js'
import { testIo } from './test-io.js'

const payments = 3
const metricsToken = 'CANARY-of-the-metrics'
let anvil: Anvil
let deployment: DevDeployment
let hashes: string[]

beforeAll(async () => {
  anvil = await startAnvil()
  deployment = await deployDevRouter(anvil)
  const payer = createPayer({ ...anvil, deployment })
  const payment = { integrationAddress: null, receiver: deriveDevAccount(2).address, amount: 1_000_000n }
  hashes = []
  while (hashes.length < payments) hashes.push(await payer.pay({ ...payment, memo: `order-${hashes.length + 1}` }))
})
afterAll(() => anvil.stop())

const environment = (path: string): Record<string, string> => ({
  PI_DATABASE_URL: `sqlite:${path}`,
  PI_MASTER_KEY: testMasterKey,
  PI_LOG_LEVEL: 'warn',
  PI_RPC_URL_31337: `${anvil.rpcUrl}/?CANARY=1,${anvil.rpcUrl}/?CANARY=2`,
  PI_ROUTERS_31337: `${deployment.router.address}@${deployment.router.version}`,
  PI_START_BLOCK_31337: '0',
  PI_POLL_MS_31337: '50',
})

async function serving(env: Record<string, string>) {
  const command = start(['serve', '--json'], env)
  const { url } = JSON.parse(await command.line('"listening"')) as { url: string }
  await expect.poll(() => indexedTo(url), { timeout: 300_000 }).toBeGreaterThanOrEqual(payments)
  return { ...command, url }
}

async function indexedTo(url: string): Promise<number> {
  const report = (await (await fetch(`${url}/health`)).json()) as { chains: { indexed: number; lag: number }[] }
  return report.chains[0]?.lag === 0 ? report.chains[0].indexed : -1
}

/** The stored memos by transaction hash. */
function memos(path: string): Record<string, string> {
  const database = openSqlite(path)
  try {
    const text = (column: string) => `'0x' || lower(hex(${column})) as ${column}`
    const rows = database.prepare(`select ${text('tx_hash')}, ${text('memo')} from payments`).all()
    return Object.fromEntries((rows as { tx_hash: string; memo: string }[]).map(({ tx_hash, memo }) => [tx_hash, memo]))
  } finally {
    database.close()
  }
}

function spoil(path: string, hash: string): void {
  const database = openSqlite(path)
  // The server writes at the same time, so wait for its lock.
  database.exec('pragma busy_timeout = 60000')
  database.prepare('update payments set memo = zeroblob(32) where tx_hash = unhex(substr(?, 3))').run(hash)
  database.close()
}

describe('a server that follows a chain', () => {
  it('has the same state in health, metrics and status, and none of them contains a key', async () => {
    const env = { ...environment(join(temporaryFolder(), 'service.db')), PI_METRICS_TOKEN: metricsToken }
    const { url, child, exited } = await serving(env)
    const headers = { authorization: `Bearer ${metricsToken}` }
    const metrics = await (await fetch(`${url}/metrics`, { headers })).text()
    const { code, events, errors } = await runToEnd(['status', '--url', url], env)
    expect([code, errors]).toEqual([0, []])
    const chain = { chainId: 31_337, leading: true, lag: 0, proof: 'root', error: null, reorgs: 0 }
    expect(events[0]).toMatchObject({ event: 'status', status: 'ok', database: 'ok', chains: [chain] })
    const chains = (events[0]?.['chains'] ?? []) as { indexed: number; nodes: { name: string; inUse: boolean }[] }[]
    const [status] = chains
    expect(status?.nodes.filter(({ inUse }) => inUse)).toHaveLength(1)
    expect(new Set(status?.nodes.map((each) => each.name)).size).toBe(2)
    const processes = [{ silentMs: null, leases: ['indexer:31337'] }]
    expect(events[1]).toMatchObject({ event: 'processes', processes })
    const ranges = events[2]?.['ranges'] as { from: number; to: number; proof: string }[]
    expect(events[2]).toMatchObject({ event: 'proofs', chainId: 31_337 })
    expect([ranges.at(-1)?.from, ranges[0]?.to]).toEqual([0, status?.indexed])
    expect(metrics).toContain(`payment_integration_payments_indexed_total{chain="31337",kind="first"} ${payments}`)
    expect(metrics).toContain(`payment_integration_chain_indexed_block{chain="31337"} ${status?.indexed}`)
    expect(`${metrics}${JSON.stringify(events)}`).not.toContain('CANARY')
    child.kill('SIGTERM')
    await exited
    const after = await runToEnd(['status', '--url', url], env)
    expect(after.code).toBe(1)
    expect(after.events[0]).toMatchObject({ event: 'processes', processes: [] })
  })

  it('is repaired by reindex while it runs: a dry run exits with 1, a repair with 0, misuse with 2', async () => {
    const path = join(temporaryFolder(), 'service.db')
    const env = environment(path)
    const { child, exited } = await serving(env)
    const truth = memos(path)
    expect(Object.keys(truth).sort()).toEqual([...hashes].sort())
    const [hash = ''] = hashes
    spoil(path, hash)

    const args = ['reindex', '--chain', '31337', '--from', '0', '--node']
    const difference = { kind: 'changed', txHash: hash, ordinal: 0, fields: ['memoHex'] }
    const dry = await runToEnd([...args, '2', '--dry-run'], env)
    expect(dry).toMatchObject({ code: 1, errors: [] })
    const ranges = dry.events.filter(({ event }) => event === 'range')
    expect(ranges.flatMap(({ differences }) => differences)).toEqual([difference])
    expect(dry.events.at(-1)).toMatchObject({ event: 'summary', differences: 1, repaired: 0, dryRun: true })
    expect(memos(path)).not.toEqual(truth)

    const repair = await runToEnd([...args, anvil.rpcUrl], env)
    expect(repair).toMatchObject({ code: 0, errors: [] })
    expect(repair.events.at(-1)).toMatchObject({ event: 'summary', differences: 1, repaired: 1, dryRun: false })
    expect(memos(path)).toEqual(truth)
    const { events: audit } = await runToEnd(['audit', 'list'], env)
    const started = audit.filter((event) => JSON.stringify(event).includes('chain.repair_started'))
    expect(started).toHaveLength(1)

    const again = await runToEnd([...args, '1', '--dry-run'], env)
    expect([again.code, again.events.at(-1)]).toMatchObject([0, { event: 'summary', differences: 0 }])
    expect(JSON.stringify([dry, repair, again])).not.toContain('CANARY')
    for (const [more, sentence] of [
      [['--from', '0', '--to', '999999'], 'Block 999999 is not indexed yet'],
      [['--from', '2', '--to', '1'], '--from 2 is above --to 1'],
    ] as const) {
      const io = testIo({ env })
      expect(await runCli(['reindex', '--chain', '31337', ...more], io)).toBe(2)
      expect(io.lines).toEqual([])
      expect(io.errors.join('\n')).toContain(sentence)
    }
    child.kill('SIGTERM')
    await exited
  })
})
