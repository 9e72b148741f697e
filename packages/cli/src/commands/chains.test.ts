import type { ChainConfig } from '@payment-integration/server/internal'
import { describe, expect, it } from 'vitest'
import { onService } from '../../test/fill-deliveries.js'
import { getCommands } from '../../test/run-commands.js'
import { getEvents } from '../../test/test-io.js'
import { chooseChain, parseNode, reindexText, summaryText, withNode } from './chains.js'

const chain: ChainConfig = {
  ...{ chainId: 1, nodes: [{ url: 'http://a.example' }, { url: 'http://b.example', headsUrl: 'ws://b.example' }] },
  ...{ routers: [], tokens: [], priceFeeds: [], spokePools: null, startBlock: 'head', pollMs: 1_000 },
  ...{ callPrice: null, proof: null, rawReceipts: true, maxRange: null, confirmations: 3 },
}

describe('parseNode', () => {
  it.each([
    ['2', { position: 2 }],
    ['http://127.0.0.1:8545', { url: 'http://127.0.0.1:8545' }],
    ['wss://node.example/x?y', { url: 'wss://node.example/x?y' }],
  ])('reads %s', (text, node) => expect(parseNode(text)).toEqual(node))

  it.each([
    ...['', '0', '01', '-1', '1.5', 'node.example', 'ipc:///x'],
    ...['http://u:CANARY@a.example', 'http://a.example,http://CANARY'],
  ])('rejects %j, and quotes nothing of it', (text) => {
    expect(() => parseNode(text)).toThrow(expect.objectContaining({ message: expect.not.stringContaining('CANARY') }))
  })
})

describe('withNode', () => {
  const env = { PI_RPC_URL_1: 'http://a.example', PI_HEADS_URL_1: 'ws://a.example', PI_RPC_URL_10: 'http://c.example' }

  it('replaces the configured nodes of that chain by a URL', () => {
    const changed = { PI_RPC_URL_1: 'http://b.example', PI_HEADS_URL_1: undefined, PI_RPC_URL_10: 'http://c.example' }
    expect(withNode(env, 1, { url: 'http://b.example' })).toEqual(changed)
  })

  it('replaces nodes that a file names, which the server would reject beside a URL', () => {
    const files = { PI_RPC_URL_1_FILE: '/run/secrets/rpc', PI_HEADS_URL_1_FILE: '/run/secrets/heads' }
    expect(withNode(files, 1, { url: 'http://b.example' })).toEqual({ PI_RPC_URL_1: 'http://b.example' })
  })

  it('does not change the environment otherwise', () => {
    expect(withNode(env, 1, { position: 1 })).toBe(env)
    expect(withNode(env, 1, undefined)).toBe(env)
  })
})

describe('chooseChain', () => {
  it('has only the node at the position, counted from 1', () => {
    expect(chooseChain([chain], 1, { position: 2 })).toEqual({ ...chain, nodes: [chain.nodes[1]] })
    expect(chooseChain([chain], 1, undefined)).toBe(chain)
    expect(chooseChain([chain], 1, { url: 'http://a.example' })).toBe(chain)
  })

  it.each([
    [10, undefined, 'Chain 10 is not configured; set PI_RPC_URL_10, or name a node with --node.'],
    [1, { position: 3 }, 'PI_RPC_URL_1 has 2 node(s), none at position 3.'],
  ])('rejects chain %s with %j, and names what is missing', (chainId, node, message) => {
    expect(() => chooseChain([chain], chainId, node)).toThrow(expect.objectContaining({ code: 'ERR_USAGE', message }))
  })
})

const hash = `0x${'ab'.repeat(32)}`
const report = { range: { from: 1_000, to: 1_999 }, proof: 'bloom', node: 'a.example #1', repaired: false } as const

describe('a reindex, for people', () => {
  it('has a line for each range, and one with the whole hash for each difference', () => {
    expect(reindexText({ ...report, differences: [] })).toEqual([
      'Blocks 1,000 to 1,999: as stored  (proof bloom, a.example #1)',
    ])
    const differences = [
      { kind: 'missing', txHash: hash, ordinal: 0 },
      { kind: 'changed', txHash: hash, ordinal: 1, fields: ['blockHash', 'memoHex'] },
    ] as const
    expect(reindexText({ ...report, repaired: true, differences })).toEqual([
      'Blocks 1,000 to 1,999: 2 differences, repaired  (proof bloom, a.example #1)',
      `  missing  ${hash}  payment 0`,
      `  changed  ${hash}  payment 1  blockHash, memoHex`,
    ])
    expect(reindexText({ ...report, differences: [{ kind: 'extra', txHash: hash, ordinal: 0 }] })[0]).toBe(
      'Blocks 1,000 to 1,999: 1 difference  (proof bloom, a.example #1)',
    )
  })

  it.each([
    [{ blocks: 1, differences: 0, repaired: 0, dryRun: false }, '1 block read, everything is as stored.'],
    [{ blocks: 2_000, differences: 1, repaired: 1, dryRun: false }, '2,000 blocks read, 1 difference, 1 repaired.'],
    [{ blocks: 9, differences: 2, repaired: 0, dryRun: true }, '9 blocks read, 2 differences, nothing was written.'],
  ])('%j ends with a sentence', (summary, sentence) => {
    expect(summaryText({ chainId: 1, ...summary })).toEqual([`Chain 1: ${sentence}`])
  })
})

it('lists and releases a lease, and the audit log says who released it', async () => {
  const { run, env } = getCommands('leases')
  const lease = { name: 'indexer:137', holder: 'dead process', ttlMs: 60_000 }
  await onService(env, ({ store }) => store.leases.acquire(lease))
  expect((await run('list')).out).toMatch(/^indexer:137 {2}dead process {2}ends in \d+ s$/m)
  const missing = await run('release', 'indexer:1')
  expect([missing.exitCode, missing.err]).toEqual([2, expect.stringContaining('There is no lease "indexer:1"')])
  const { exitCode, io } = await run('release', 'indexer:137', '--json')
  expect(exitCode).toBe(0)
  expect(getEvents(io)).toEqual([
    { event: 'lease.released', lease: expect.objectContaining({ holder: 'dead process' }) },
  ])
  expect(await onService(env, ({ leases }) => leases.list())).toEqual([])
  expect(await onService(env, ({ audit }) => audit.list({ limit: 10 }))).toContainEqual(
    expect.objectContaining({ action: 'lease.released', subject: 'indexer:137' }),
  )
})
