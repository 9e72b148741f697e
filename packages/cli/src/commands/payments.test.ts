import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fillDeliveries, onService } from '../../test/fill-deliveries.js'
import { operatedDeliveries, otherShop, shop } from '../../test/operated-deliveries.js'
import { getCommands } from '../../test/run-commands.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { getEvents, testIo } from '../../test/test-io.js'
import { runCli } from '../run-cli.js'

/** 600 payments of one integration, more than an export reads at once, and one of another. */
async function filled() {
  const { env } = await operatedDeliveries()
  await fillDeliveries(env, { integrationAddress: shop, payments: 600 })
  await fillDeliveries(env, { integrationAddress: otherShop, payments: 1, chainId: 137 })
  const folder = temporaryFolder()
  const { run } = getCommands('payments', env)
  return { env, folder, run: (name: string, ...args: string[]) => run('export', '--to', join(folder, name), ...args) }
}

async function lastRecord(env: Record<string, string>) {
  const [record] = await onService(env, ({ store }) => store.console.audit({ limit: 1 }))
  return { actor: record?.actor, action: record?.action, ...record?.details }
}

it('writes the payments that match into a new file for its owner, and the audit log says who and how many', async () => {
  const { env, folder, run } = await filled()
  const path = join(folder, 'all.csv')
  const { lines } = await run('all.csv', '--integration', shop, '--state', 'none', '--actor', 'ann')
  expect(lines).toEqual([`Wrote ${path}: 600 payments.`])
  const [head, ...rows] = readFileSync(path, 'utf8').trimEnd().split('\r\n')
  expect(head).toMatch(/^blockTimestamp,chainId,txHash,version,state,/)
  expect(new Set(rows.map((row) => row.split(',')[2])).size).toBe(600)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const filter = { integrationAddress: shop, state: null, list: 'payments', format: 'csv' }
  expect(await lastRecord(env)).toEqual({ actor: 'ann', action: 'export.ended', ...filter, rows: 600, end: 'complete' })

  const times = ['--since', '2026-01-01', '--until', '2026-01-03']
  const { io } = await run('one.jsonl', '--chain', '137', ...times, '--json')
  expect(getEvents(io)).toEqual([{ event: 'payments.exported', file: join(folder, 'one.jsonl'), rows: 1 }])
  expect(JSON.parse(readFileSync(join(folder, 'one.jsonl'), 'utf8'))).toMatchObject({ integrationAddress: otherShop })
  expect(await run('all.csv')).toMatchObject({ exitCode: 1, err: expect.stringContaining('is never overwritten') })
  expect((await run('all.xlsx')).exitCode).toBe(2)
  const swapped = { exitCode: 2, err: expect.stringContaining('--since is not before --until') }
  expect(await run('none.csv', '--since', '2026-01-03', '--until', '2026-01-01')).toMatchObject(swapped)
})

it('leaves no file when it is interrupted, and the audit log says so', async () => {
  const { env, folder } = await filled()
  const io = testIo({ env, live: () => io.interrupt() })
  expect(await runCli(['payments', 'export', '--to', join(folder, 'all.csv')], io)).toBe(1)
  expect(io.errors.join()).toContain('Interrupted; no file was written.')
  expect(readdirSync(folder)).toEqual([])
  expect(await lastRecord(env)).toMatchObject({ action: 'export.ended', rows: 500, end: 'stopped' })
})
