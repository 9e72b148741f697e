/** docs/architecture.md: no integration ever sees a row, a count or a status of another (docs/interface.md 4, 7). */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Command, command, pools, type Tenant } from '../../test/support/tenant-commands.js'
import { tenantModel } from '../../test/support/tenant-model.js'
import type { Seen, TenantWorld } from '../../test/support/tenant-world.js'
import { getAddress, getWallet, makeTxHash, openTenantWorld } from '../../test/support/tenant-world.js'

const seed = Number(process.env['TENANTS_SEED'] ?? Date.now() & 0x7fffffff)
const runs = 20
const commandsPerRun = 220
const start = Date.UTC(2026, 0, 2)
const blockMs = 1_000
const listPath = (wallet: number | null) => (wallet === null ? 'payments' : `wallet/${getWallet(wallet)}/payments`)

/** Outcomes of the runs, so that the test can prove its coverage. */
const tried = { commands: 0, compared: 0, statuses: new Map<string, number>() }

interface ListedPage {
  readonly payments: readonly Readonly<Record<'integrationAddress' | 'chainId' | 'txHash', string>>[]
  readonly nextCursor: string | null
}

async function play(commands: readonly (Command | null)[]): Promise<void> {
  let now = start
  const clock = { now: () => now }
  const model = tenantModel(clock)
  const both = await openTenantWorld(['A', 'B'], clock)
  const alone = await openTenantWorld(['A'], clock)
  const worlds = [both, alone]
  const cursors: Record<Tenant, { readonly cursor: string; readonly wallet: number | null }[]> = { A: [], B: [] }

  /** Runs in each world in which the writer exists. In A's world, a joint write happens without B's part. */
  const everywhere = async (act: (world: TenantWorld) => unknown, of: Tenant | null = null) => {
    for (const world of worlds) if (of === null || world.has(of)) await act(world)
  }

  /** Sends a tenant's request. A's answer must be the same in the world without B. */
  async function ask(by: Tenant, path: string, secretOf: (world: TenantWorld) => string): Promise<Seen> {
    const seen = await both.ask(path, by, secretOf(both))
    if (by === 'A') {
      tried.compared++
      expect(await alone.ask(path, by, secretOf(alone)), path).toEqual(seen)
    }
    const key = `${by} ${seen.status}`
    tried.statuses.set(key, (tried.statuses.get(key) ?? 0) + 1)
    return seen
  }

  function getPage(by: Tenant, wallet: number | null, { body }: Seen): ListedPage {
    const page = JSON.parse(body) as ListedPage
    for (const { integrationAddress } of page.payments) expect(integrationAddress).toBe(getAddress(by))
    if (page.nextCursor !== null) cursors[by].push({ cursor: page.nextCursor, wallet })
    return page
  }

  /** The secret that a command names, and whether it is valid. */
  function credentials(by: Tenant, which: 'newest' | 'previous' | 'other') {
    if (which === 'other') {
      const other = by === 'A' ? 'B' : 'A'
      // The world without B has no secret of B: the same text is wrong there, too.
      return { secretOf: () => both.secret(other, 'newest'), opens: false }
    }
    const isSame = both.secret(by, 'newest') === both.secret(by, 'previous')
    return { secretOf: (world: TenantWorld) => world.secret(by, which), opens: model.mayEnter(by, which, isSame) }
  }

  async function act(each: Command): Promise<void> {
    tried.commands++
    switch (each.kind) {
      case 'mine': {
        const blocks = model.chains[each.chain] ?? []
        const timestamp = Math.max(start + (blocks.length + 1) * blockMs, (blocks.at(-1)?.timestamp ?? 0) + 1)
        const transactions = model.fresh(each.chain, each.transactions)
        blocks.push({ transactions, timestamp })
        await everywhere(async (world) => {
          await world.mine(each.chain, transactions, timestamp)
          await world.index()
        })
        return
      }
      case 'reorganize': {
        const blocks = model.chains[each.chain] ?? []
        const depth = Math.min(each.depth, blocks.length)
        if (depth === 0) return
        const dropped = blocks.splice(blocks.length - depth)
        // The same transactions, in the reverse order of blocks and later, on a branch that is one block longer.
        const first = (blocks.at(-1)?.timestamp ?? start) + 1 + each.laterMs
        const branch = [...dropped.reverse().map(({ transactions }) => transactions), []]
        const added = branch.map((transactions, n) => ({ transactions, timestamp: first + n * blockMs }))
        blocks.push(...added)
        await everywhere(async (world) => {
          world.drop(each.chain, depth)
          for (const { transactions, timestamp } of added) await world.mine(each.chain, transactions, timestamp)
          await world.index()
        })
        return
      }
      case 'update': {
        // When a transaction names several integrations, the processor must name one; else the update is rejected.
        const owners = model.owners(each.chain, each.hash)
        const [owner] = owners
        if (each.of === null && owners.size !== 1) return
        const change = {
          txHash: makeTxHash(each.hash),
          chainId: String(pools.chains[each.chain]),
          state: each.state,
          recipient: { title: each.title, subtitle: null },
          ...(each.of === null ? {} : { integrationAddress: getAddress(each.of) }),
        }
        return everywhere((world) => world.update(change), (each.of ?? owner) === 'B' ? 'B' : null)
      }
      case 'rotate':
        model.access[each.of].graceEnds = now + each.graceMs
        return everywhere((world) => world.rotate(each.of, each.graceMs), each.of)
      case 'enable':
        model.access[each.of].enabled = each.enabled
        return everywhere((world) => world.enable(each.of, each.enabled), each.of)
      case 'wait':
        now += each.ms
        return
      case 'list': {
        const { secretOf, opens } = credentials(each.by, each.with)
        const seen = await ask(each.by, `${listPath(each.wallet)}?limit=${each.limit}`, secretOf)
        expect(seen.status).toBe(opens ? 200 : 401)
        if (!opens) return
        const { payments } = getPage(each.by, each.wallet, seen)
        const listed = payments.map(({ chainId, txHash }) => `${chainId}:${Number(txHash) - 1}`)
        expect(listed).toEqual(model.page(each.by, each.wallet, each.limit))
        return
      }
      case 'walk': {
        const from = cursors[each.cursorOf]
        const chosen = from[each.cursor % Math.max(1, from.length)]
        if (chosen === undefined) return
        const { secretOf, opens } = credentials(each.by, 'newest')
        const seen = await ask(
          each.by,
          `${listPath(each.wallet)}?limit=${each.limit}&cursor=${chosen.cursor}`,
          secretOf,
        )
        const fits = each.by === each.cursorOf && each.wallet === chosen.wallet
        expect(seen.status).toBe(!opens ? 401 : fits ? 200 : 400)
        if (seen.status === 200) getPage(each.by, each.wallet, seen)
        if (seen.status === 400)
          expect(seen.body).toBe('{"error":"cursor must be the nextCursor of a page of this list, unchanged"}')
        return
      }
      case 'get': {
        const { secretOf, opens } = credentials(each.by, each.with)
        const seen = await ask(each.by, `${listPath(each.wallet)}/${makeTxHash(each.hash)}`, secretOf)
        expect(seen.status).toBe(opens ? model.single(each.by, each.hash, each.wallet) : 401)
        if (seen.status === 200)
          expect(JSON.parse(seen.body)).toMatchObject({ integrationAddress: getAddress(each.by) })
        return
      }
    }
  }

  try {
    for (const each of commands) if (each !== null) await act(each)
  } finally {
    await both.close()
    await alone.close()
  }
}

it(`the answers to A do not depend on B, byte for byte (TENANTS_SEED=${seed})`, async () => {
  // A failure shrinks to the needed commands: the others become null.
  const scripts = fc.array(fc.option(command, { freq: 100 }), { minLength: commandsPerRun, maxLength: commandsPerRun })
  await fc.assert(fc.asyncProperty(scripts, play), { seed, numRuns: runs, interruptAfterTimeLimit: 500_000 })
  expect(tried.commands).toBeGreaterThan(200 * runs)
  expect(tried.compared).toBeGreaterThan(50 * runs)
  // Every kind of answer was among them, for both.
  for (const by of ['A', 'B'])
    for (const status of [200, 400, 401, 404, 409])
      expect(tried.statuses.get(`${by} ${status}`) ?? 0, `${by} ${status}`).toBeGreaterThan(0)
})
