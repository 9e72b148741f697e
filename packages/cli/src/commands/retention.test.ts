import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fillDeliveries, onService } from '../../test/fill-deliveries.js'
import { accepted, operatedDeliveries, rejected, shop } from '../../test/operated-deliveries.js'
import { getCommands } from '../../test/run-commands.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { getEvents } from '../../test/test-io.js'
import { openSqlite } from '../files.js'

/** A service with three deliveries, whose segments began so many days earlier after {@link age}. */
async function operated(variables: Record<string, string> = { PI_RETENTION_DELIVERIES: '1d' }) {
  const folder = temporaryFolder()
  const { path, env, run: deliveries } = await operatedDeliveries({ ...variables, PI_RETENTION_FOLDER: folder })
  await fillDeliveries(env, { integrationAddress: shop, payments: 2, ...accepted })
  await fillDeliveries(env, { integrationAddress: shop, payments: 1, ...rejected })
  const retention = getCommands('retention', env)
  const age = (days: number) => {
    const database = openSqlite(path)
    database.exec(`update segments set begun_at = begun_at - ${days * 86_400_000}`)
    database.close()
  }
  const list = async () =>
    (await deliveries('list')).lines.filter((line) => line.includes('shop.example') || /^ *\d+ /.test(line))
  return { folder, path, env, run: retention.run, age, list, files: () => readdirSync(folder).toSorted() }
}

test('history leaves for files a day after its segment ended, and comes back from them', async () => {
  const { run, age, list, files, folder, env } = await operated()
  const before = await list()
  expect((await run('run')).lines).toEqual(['New rows go to a new segment from now on.', 'Nothing was removed.'])
  age(2)
  const plan = await run('run', '--dry-run')
  expect([plan.exitCode, plan.lines.at(-1)]).toEqual([0, 'retention run would remove 6 rows.'])
  expect(plan.lines.slice(0, -1)).toEqual([
    expect.stringMatching(/^attempts {4}segment 0 {2}until \S+ \S+ {2}3 rows$/),
    expect.stringMatching(/^deliveries {2}segment 0 {2}until \S+ \S+ {2}3 rows$/),
  ])
  expect([await list(), files()]).toEqual([before, []])
  const { exitCode, lines } = await run('run', '--actor', 'alice')
  expect([exitCode, lines.at(-1)]).toEqual([0, `Removed 6 rows in all; their files are in ${folder}.`])
  expect(await list()).toEqual([])
  const [attempts, deliveries] = files()
  expect([attempts, deliveries]).toEqual([
    expect.stringMatching(/^attempts-000000-\d{8}T\d{6}Z\.jsonl\.gz$/),
    expect.stringMatching(/^deliveries-000000-\d{8}T\d{6}Z\.jsonl\.gz$/),
  ])
  const archived = await onService(env, ({ audit }) => audit.list({ limit: 99 }))
  expect(archived.slice(-2)).toMatchObject([
    { action: 'history.archived', actor: 'alice', subject: 'attempts', details: { file: attempts, rows: 3 } },
    { action: 'history.archived', actor: 'alice', subject: 'deliveries', details: { file: deliveries, rows: 3 } },
  ])
  const early = await run('restore', attempts ?? '')
  expect([early.exitCode, early.err]).toEqual([1, expect.stringContaining('have no stored payment or delivery')])
  for (const file of [deliveries, attempts]) expect((await run('restore', file ?? '')).exitCode).toBe(0)
  expect(await list()).toEqual(before)
  // As an operator moves them away: a file of the same second would have the same name.
  for (const file of files()) rmSync(join(folder, file))
  const again = await run('run', '--json')
  expect(getEvents(again.io).at(-1)).toEqual({ event: 'retention.done', removed: 6 })
})

test('pending deliveries keep the history of their segment', async () => {
  const { run, age, env, list, files } = await operated()
  await fillDeliveries(env, { integrationAddress: shop, payments: 1 })
  await run('run')
  age(2)
  const { lines } = await run('run')
  expect(lines).toContain(`Segment 0 stays: 1 of its deliveries to ${shop} are pending (--give-up).`)
  expect([lines.at(-1), (await list()).length, files()]).toEqual(['Nothing was removed.', 4, []])
  expect((await run('run', '--give-up')).lines).toContain('Gave up 1 pending deliveries.')
  expect([await list(), files().length]).toEqual([[], 2])
})

test('without a time, without a folder, and with a damaged file it says what to do', async () => {
  const { run, folder, age, files, env, list } = await operated()
  const keeping = await getCommands('retention', { ...env, PI_RETENTION_DELIVERIES: 'keep' }).run('run')
  expect([keeping.exitCode, keeping.err]).toEqual([2, expect.stringContaining('set PI_RETENTION_DELIVERIES')])
  const homeless = await getCommands('retention', { ...env, PI_RETENTION_FOLDER: '' }).run('run')
  expect([homeless.exitCode, homeless.err]).toEqual([2, expect.stringContaining('--folder')])
  const missing = join(folder, 'missing')
  await run('run')
  age(2)
  const nowhere = await run('run', '--folder', missing)
  expect([nowhere.exitCode, nowhere.err]).toEqual([2, expect.stringContaining('is not a folder')])
  expect(await list()).toHaveLength(3)
  await run('run')
  const [name = ''] = files()
  writeFileSync(join(folder, name), readFileSync(join(folder, name)).subarray(0, -9))
  const damaged = await run('restore', name)
  expect([damaged.exitCode, damaged.err]).toEqual([1, expect.stringContaining(name)])
})
