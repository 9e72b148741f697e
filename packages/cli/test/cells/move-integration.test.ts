import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reconcile } from '@payment-integration/client'
import type { MoveReader, Store } from '@payment-integration/core/ports'
import { createMemoryVersionStore } from '@payment-integration/version-store'
import { afterEach, describe, expect, test } from 'vitest'
import { startRecordingReceiver } from '../../../server/test/support/recording-receiver.js'
import { postgresMissing } from '../../../store-sql/test/postgres.js'
import { hex, scriptedChain, txHashOf } from '../../../store-sql/test/support/scripted-chain.js'
import { readMoveFile } from '../../src/move-file/read-move-file.js'
import { createMoveFile } from '../../src/move-file/write-move-file.js'
import { type Database, openCell } from './cell.js'

const shop = hex('shop', 20)
const key = (version: number, tx: string) => `${tx}@${version}`
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Two cells on one chain, and a receiver that answers 503 to the payments in `refused`. */
async function setup(from: Database, to: Database, targetKey?: string) {
  let offset = 0
  const now = () => Date.now() + offset
  const chain = scriptedChain(137)
  const source = await openCell(from, chain, now)
  const target = await openCell(to, chain, now, targetKey)
  const receiver = await startRecordingReceiver()
  const folder = mkdtempSync(join(tmpdir(), 'pi-move-'))
  closing.push(() => rmSync(folder, { recursive: true }), source.close, target.close, receiver.stop)
  const refused = new Set<string>()
  const accepted: string[] = []
  receiver.answer = ({ body }, response) => {
    const text = body.toString()
    const isRefused = refused.has(JSON.parse(text).txHash as string)
    if (!isRefused) accepted.push(text)
    response.writeHead(isRefused ? 503 : 204).end()
  }
  const { apiSecret } = await source.service.integrations.create({ address: shop, notificationUrl: receiver.url })
  let files = 0
  return {
    source,
    target,
    refused,
    apiSecret,
    accepted,
    /** Accepted deliveries as `payment@version`, sorted. */
    keys: (names: readonly string[]) =>
      accepted
        .map((body) => JSON.parse(body) as { txHash: string; version: number })
        .map(({ txHash, version }) => key(version, names.find((name) => txHashOf(name) === txHash) ?? txHash))
        .sort(),
    pass(ms: number) {
      offset += ms
    },
    async pay(...names: readonly string[]) {
      chain.mine(names.map((tx) => ({ tx, integrationAddress: shop })))
      await Promise.all([source.index(), target.index()])
    },
    async export() {
      files += 1
      const path = join(folder, `${files}.zst`)
      const exported = await source.service.moves.export(shop, (record) => createMoveFile(path, record))
      return { path, ...exported }
    },
    update: (id: string, tx: string, change: object) => ({ id, chainId: '137', txHash: txHashOf(tx), ...change }),
  }
}

/** A store whose transactions fail after some of them, as after a kill of the process. */
function failingAfter(store: Store, count: number): Store {
  let left = count
  const limited = <T>(run: () => Promise<T>): Promise<T> => {
    left -= 1
    return left < 0 ? Promise.reject(new Error('killed')) : run()
  }
  const { moves } = store
  if (moves === null) throw new Error('no moves')
  return {
    ...store,
    transaction: (work, options) => limited(() => store.transaction(work, options)),
    moves: { ...moves, transaction: (work) => limited(() => moves.transaction(work)) },
  }
}

const range = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name}${n}`)
const pairs: [Database, Database][] = [
  ['SQLite', 'SQLite'],
  ['PostgreSQL', 'PostgreSQL'],
  ['SQLite', 'PostgreSQL'],
  ['PostgreSQL', 'SQLite'],
]

describe.each(pairs)('from %s to %s', (from, to) => {
  const needsPostgres = [from, to].includes('PostgreSQL')
  const move = test.skipIf(needsPostgres && postgresMissing !== null)

  move('no delivery is lost or repeated, though the import is killed after each of its transactions', async () => {
    const { source, target, ...made } = await setup(from, to)
    const { service } = source
    const many = range(230, 'many')
    await made.pay('early')
    await service.applyUpdate(
      made.update('u1', 'early', { state: 'pending', recipient: { title: 'Café', subtitle: null } }),
    )
    await source.deliver()
    made.refused.add(txHashOf('retried'))
    await made.pay('retried', ...many)
    await source.deliver()
    await made.pay('pending')
    await service.applyUpdate(made.update('u2', 'pending', { state: 'success' }))
    await service.applyUpdate(made.update('u3', 'late', { state: 'success' }))
    const scheduled = (await source.store.deliveries.list({ status: 'pending', limit: 10 })).map(schedule)

    const first = await made.export()
    const again = await made.export()
    expect(again.sha256).toBe(first.sha256)
    expect(first).toMatchObject({ payments: 233, deliveries: 3, updates: 2, waiting: 1 })
    expect(statSync(first.path).mode & 0o777).toBe(0o600)
    await made.pay('between')

    let runs = 0
    for (let isDone = false; !isDone; runs += 1) {
      const killed = target.serviceOn(failingAfter(target.store, runs))
      isDone = await killed.moves.import(await readMoveFile(first.path)).then(
        () => true,
        (error: Error) => {
          if (error.message !== 'killed') throw error
          return false
        },
      )
      if (runs === 2) await made.pay('during')
    }
    expect(runs).toBeGreaterThan(5)
    const moved = await target.store.deliveries.list({ status: 'pending', limit: 10 })
    expect(
      moved.filter(({ txHash }) => ![txHashOf('between'), txHashOf('during')].includes(txHash)).map(schedule),
    ).toEqual(scheduled)

    await target.deliver()
    await made.pay('late')
    await target.service.applyUpdate(made.update('u4', 'early', { state: 'success' }))
    made.refused.clear()
    made.pass(24 * 3_600_000)
    await target.deliver()
    expect(await source.deliver()).toBe(0)

    const names = ['early', 'retried', 'pending', 'between', 'during', 'late', ...many]
    const versions: Record<string, number> = { early: 3, pending: 2, late: 2 }
    const wanted = names.flatMap((name) => range(versions[name] ?? 1, '').map((n) => key(Number(n) + 1, name)))
    expect(made.keys(names)).toEqual(wanted.sort())
    // Repeating an update is answered as by the former cell.
    expect(await target.service.applyUpdate(made.update('u2', 'pending', { state: 'success' }))).toMatchObject({
      outcome: 'applied',
      version: 2,
    })

    const store = createMemoryVersionStore()
    for (const body of made.accepted) {
      const { integrationAddress, chainId, txHash, version } = JSON.parse(body)
      await store.transaction((tx) => store.advance({ integrationAddress, chainId, txHash }, version, tx))
    }
    const found = await reconcile(target.client(shop, made.apiSecret), {
      from: store,
      until: 'end',
      handle: async () => undefined,
    })
    expect(found).toMatchObject({ compared: names.length, repaired: 0, missing: { count: 0 }, stale: { count: 0 } })
    for (const { service: each } of [source, target])
      expect(await each.audit.verify()).toMatchObject({ brokenAt: null })
    const records = await target.store.audit.list({ limit: 100 })
    expect(records.map(({ action }) => action)).toEqual(['integration.imported'])
    expect(records[0]?.details).toMatchObject({ sha256: first.sha256 })
  })
})

/** What a delivery has in each cell. */
function schedule({
  txHash,
  version,
  attempts,
  nextAttemptAt,
}: Awaited<ReturnType<Store['deliveries']['list']>>[number]) {
  return { txHash, version, attempts, nextAttemptAt }
}

describe('an import is refused', () => {
  const importing = async (made: Awaited<ReturnType<typeof setup>>, path: string, change: Partial<MoveReader> = {}) =>
    made.target.service.moves.import({ ...(await readMoveFile(path)), ...change })
  const rejection = (code: string, text: string) =>
    expect.objectContaining({ code, message: expect.stringContaining(text) })

  test('while a payment of the file is not indexed', async () => {
    const made = await setup('SQLite', 'SQLite')
    await made.pay('a')
    const { path } = await made.export()
    const missing: MoveReader['rows'] = async function* () {
      for await (const rows of (await readMoveFile(path)).rows())
        yield rows.map((row) => ('payment' in row ? { payment: { ...row.payment, txHash: txHashOf('unknown') } } : row))
    }
    await expect(importing(made, path, { rows: missing })).rejects.toThrow(
      rejection('ERR_MOVE_PAYMENT_MISSING', txHashOf('unknown')),
    )
    await importing(made, path)
  })

  test('where the integration is enabled', async () => {
    const made = await setup('SQLite', 'SQLite')
    const { path } = await made.export()
    await importing(made, path)
    await expect(importing(made, path)).rejects.toThrow(rejection('ERR_INTEGRATION_EXISTS', shop))
  })

  test('with another master key', async () => {
    const made = await setup('SQLite', 'SQLite', 'fedcba9876543210'.repeat(4))
    const { path } = await made.export()
    await expect(importing(made, path)).rejects.toThrow(rejection('ERR_MOVE_KEY_MISSING', 'webhook secret'))
    expect(await made.target.service.integrations.list()).toEqual([])
  })

  test('with changed or missing bytes', async () => {
    const made = await setup('SQLite', 'SQLite')
    await made.pay('a')
    const { path } = await made.export()
    const bytes = readFileSync(path)
    const damaged = Buffer.from(bytes)
    damaged.writeUInt8(bytes.readUInt8(40) ^ 1, 40)
    for (const content of [damaged, bytes.subarray(0, -5)]) {
      writeFileSync(`${path}.copy`, content)
      await expect(importing(made, `${path}.copy`)).rejects.toThrow(rejection('ERR_ARCHIVE', path))
    }
  })

  test('after the other cell changed a payment without the file', async () => {
    const made = await setup('SQLite', 'SQLite')
    await made.pay('a')
    const { path } = await made.export()
    await made.target.service.applyUpdate(made.update('u1', 'a', { state: 'success' }))
    await expect(importing(made, path)).rejects.toThrow(rejection('ERR_MOVE_UPDATE_MISSING', txHashOf('a')))
    await made.source.service.applyUpdate(made.update('u1', 'a', { state: 'success' }))
    await importing(made, (await made.export()).path)
    await made.target.deliver()
    expect(made.keys(['a'])).toEqual(['a@1', 'a@2'])
  })

  test('with a file that is older than what was sent, and an integration moves back with a newer one', async () => {
    const made = await setup('SQLite', 'SQLite')
    await made.pay('a')
    const { path } = await made.export()
    await importing(made, path)
    await made.target.deliver()
    await made.target.service.integrations.setEnabled(shop, false)
    await expect(importing(made, path)).rejects.toThrow(rejection('ERR_MOVE_FILE_STALE', txHashOf('a')))
    const back = `${path}.back`
    await made.target.service.moves.export(shop, (record) => createMoveFile(back, record))
    await made.source.service.moves.import(await readMoveFile(back))
    expect(await made.source.deliver()).toBe(0)
    expect(made.keys(['a'])).toEqual(['a@1'])
  })
})
