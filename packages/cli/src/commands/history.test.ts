import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fillDeliveries, onService } from '../../test/fill-deliveries.js'
import { accepted, operatedDeliveries, rejected, shop } from '../../test/operated-deliveries.js'
import { getCommands } from '../../test/run-commands.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { getEvents, testIo } from '../../test/test-io.js'
import { openSqlite } from '../files.js'
import { runCli } from '../run-cli.js'

/** The commands on a database whose audit log has so many records. */
async function audited(records: number) {
  const commands = getCommands('audit')
  const integrations = getCommands('integrations', commands.env)
  await integrations.run('create', shop, '--actor', 'alice', '--url', 'https://shop.example/hook?key=SECRET')
  for (let seq = 2; seq <= records; seq += 1) await integrations.run(seq % 2 === 0 ? 'disable' : 'enable', shop)
  return commands
}

const records = (lines: readonly string[]) => lines.map((line) => Number(/^ *(\d+) /.exec(line)?.[1]))

describe('audit list', () => {
  it('prints time, actor, action and subject, without secrets', async () => {
    const { run } = await audited(2)
    const { exitCode, lines } = await run('list')
    expect(exitCode).toBe(0)
    const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`
    const url = String.raw`.*https://shop[.]example/\[[0-9a-f]{12}\]`
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^ +1 {2}${time} {2}alice {2}integration[.]created {2}${shop} ${url}`)),
      expect.stringMatching(new RegExp(`^ +2 {2}${time} {2}cli:\\S+ {2}integration[.]disabled {2}${shop}`)),
    ])
    expect(lines.join('\n')).not.toContain('SECRET')
    expect(getEvents((await run('list', '--json')).io)).toMatchObject([
      { event: 'audit', record: { seq: 1, actor: 'alice', action: 'integration.created', subject: shop } },
      { event: 'audit', record: { seq: 2, action: 'integration.disabled', keyVersion: expect.any(Number) } },
    ])
  })

  it('prints the newest records, reports omitted ones, and pages with --after', async () => {
    const { run } = await audited(9)
    const newest = await run('list', '--limit', '4')
    expect(records(newest.lines.slice(0, -1))).toEqual([6, 7, 8, 9])
    expect(newest.lines.at(-1)).toBe('The newest 4 of 9 records; --all prints all.')
    expect(records((await run('list', '--all')).lines)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(records((await run('list')).lines)).toHaveLength(9)
    const page = await run('list', '--after', '2', '--limit', '3')
    expect(records(page.lines.slice(0, -1))).toEqual([3, 4, 5])
    expect(page.lines.at(-1)).toBe('4 more follow; continue with --after 5.')
    expect(records((await run('list', '--after', '7')).lines)).toEqual([8, 9])
    expect((await run('list', '--after', '9')).lines).toEqual([])
    const more = { event: 'more', shown: 1, newest: 9 }
    expect(getEvents((await run('list', '--limit', '1', '--json')).io).at(-1)).toEqual(more)
  })

  it('begins with the oldest record that retention kept, and counts no removed one', async () => {
    const { run, sql } = await audited(5)
    sql('delete from audit where seq < 3')
    expect(records((await run('list')).lines)).toEqual([3, 4, 5])
    const { lines } = await run('list', '--after', '0', '--limit', '2')
    expect([records(lines.slice(0, -1)), lines.at(-1)]).toEqual([[3, 4], '1 more follow; continue with --after 4.'])
  })
})

it('audit head prints a record that verify --expect finds until the log is rewritten', async () => {
  const { run, sql, env } = await audited(3)
  const { exitCode, out } = await run('head')
  expect(exitCode).toBe(0)
  const [, anchor = ''] = /^(3:[0-9a-f]{64}) {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/.exec(out) ?? []
  const [seq, hash] = anchor.split(':')
  expect(getEvents((await run('head', '--json')).io)).toEqual([
    { event: 'audit.head', head: { seq: Number(seq), hash, at: expect.any(Number) } },
  ])
  await getCommands('integrations', env).run('disable', shop)
  expect((await run('head')).out).toMatch(/^4:/)
  expect((await run('verify', '--expect', anchor)).exitCode).toBe(0)
  sql(`update audit set hash = '${'0'.repeat(64)}' where seq = 3`)
  expect((await run('verify', '--expect', anchor)).lines.at(-1)).toContain('Record 3 is not the expected one')
})

describe('audit verify', () => {
  it('exits with 0 for an unchanged log, and prints the newest record to store', async () => {
    const { run } = await audited(3)
    const { exitCode, lines } = await run('verify')
    expect(exitCode).toBe(0)
    expect(lines[0]).toMatch(/^The audit log is unchanged: 3 records, the newest of /)
    const anchor = /Store (3:[0-9a-f]{64}) outside/.exec(lines[1] ?? '')?.[1] ?? ''
    expect((await run('verify', '--expect', anchor)).lines.at(-1)).toBe('Record 3 is the expected one.')
    const verified = { event: 'audit.verified', ok: true, records: 3, brokenAt: null, expected: null }
    expect(getEvents((await run('verify', '--json')).io)).toMatchObject([verified])
  })

  it('exits with 1 and names the first record that was changed', async () => {
    const { run, sql } = await audited(3)
    sql(`update audit set actor = '"nobody"' where seq = 2`)
    const { exitCode, out } = await run('verify')
    expect(exitCode).toBe(1)
    expect(out).toContain('The audit log is broken at record 2: ')
    expect(getEvents((await run('verify', '--json')).io)).toMatchObject([{ ok: false, brokenAt: 2 }])
  })

  it('--expect detects removed newest records', async () => {
    const { run, sql } = await audited(3)
    const anchor = /Store (3:\S+)/.exec((await run('verify')).out)?.[1] ?? ''
    sql('delete from audit where seq = 3')
    expect((await run('verify')).exitCode).toBe(0)
    const { exitCode, lines } = await run('verify', '--expect', anchor)
    const sentence = 'Record 3 is not the expected one: the log was truncated or rewritten.'
    expect([exitCode, lines.at(-1)]).toEqual([1, sentence])
    expect((await run('verify', '--expect', `2:${'0'.repeat(64)}`)).exitCode).toBe(1)
  })

  it('ends when it is interrupted', async () => {
    // It is aborted, as seen from the check between the parts of the log alone.
    const signal = Object.defineProperty(AbortSignal.abort(), 'aborted', { value: false })
    const io = testIo({ env: (await audited(1)).env, signal })
    expect([await runCli(['audit', 'verify'], io), io.lines]).toEqual([1, []])
    expect(io.errors.join()).toContain('Interrupted')
  })
})

async function getActor(args: readonly string[], env: Record<string, string>, user: string | null) {
  const commands = getCommands('legacy-keys', env)
  const io = testIo({ env: commands.env, userName: () => user })
  expect(await runCli(['legacy-keys', 'create', ...args], io)).toBe(0)
  const [event] = getEvents((await getCommands('audit', commands.env).run('list', '--json')).io)
  return { ...(event?.['record'] as { actor?: string }) }.actor
}

it('the actor in the audit log is --actor, else PI_ACTOR, else the user of this machine, else unknown', async () => {
  expect(await getActor(['--actor', 'alice'], { PI_ACTOR: 'bob' }, 'carol')).toBe('alice')
  expect(await getActor([], { PI_ACTOR: 'bob' }, 'carol')).toBe('bob')
  expect(await getActor([], {}, 'carol')).toBe('cli:carol')
  expect(await getActor([], {}, null)).toBe('cli:unknown')
})

describe('backup', () => {
  it('copies the database for its owner alone, and the copy is whole', async () => {
    const { run, make } = getCommands('backup')
    await make()
    const file = join(temporaryFolder(), 'copy.db')
    const { exitCode, lines } = await run(file, '--json')
    const { size, mode } = statSync(file)
    expect([exitCode, mode & 0o777]).toEqual([0, 0o600])
    expect(JSON.parse(lines[0] ?? '')).toEqual({ event: 'backup', file, bytes: size })
    const copy = openSqlite(file)
    expect(copy.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    expect(copy.prepare('select count(*) as n from legacy_keys').all()).toEqual([{ n: 1 }])
    copy.close()
  })

  it('a file that exists is not overwritten', async () => {
    const { run, make } = getCommands('backup')
    await make()
    const file = join(temporaryFolder(), 'copy.db')
    writeFileSync(file, 'mine')
    const { exitCode, err } = await run(file)
    expect([exitCode, err]).toEqual([2, `${file} exists. Name another file, or remove it.`])
    expect(statSync(file).size).toBe(4)
  })

  it('a copy that cannot be written leaves no file', async () => {
    const { run, make, path } = getCommands('backup')
    await make()
    writeFileSync(path, 'no database')
    const folder = temporaryFolder()
    const { exitCode, err } = await run(join(folder, 'copy.db'))
    expect(exitCode).toBe(1)
    expect(err).toContain('could not be written')
    expect(readdirSync(folder)).toEqual([])
  })

  it('into a folder that does not exist reports that the file could not be written', async () => {
    const { run, make } = getCommands('backup')
    await make()
    const { exitCode, err } = await run(join(temporaryFolder(), 'none', 'copy.db'))
    expect([exitCode, err]).toEqual([1, expect.stringMatching(/^The backup .*copy\.db could not be written: ENOENT/)])
  })

  it('of PostgreSQL is misuse, and names what to use', async () => {
    const { run } = getCommands('backup', { PI_DATABASE_URL: 'postgres://a@db.example/p' })
    expect(await run('copy.db')).toMatchObject({ exitCode: 2, err: expect.stringContaining('pg_basebackup') })
  })
})

/** A service with three deliveries, whose segments began so many days earlier after {@link age}. */
async function operated(variables: Record<string, string> = { PI_RETENTION_DELIVERIES: '1d' }) {
  const folder = temporaryFolder()
  const { path, env, run: deliveries, sql } = await operatedDeliveries({ ...variables, PI_RETENTION_FOLDER: folder })
  await fillDeliveries(env, { integrationAddress: shop, payments: 2, ...accepted })
  await fillDeliveries(env, { integrationAddress: shop, payments: 1, ...rejected })
  const retention = getCommands('retention', env)
  const age = (days: number) => sql(`update segments set begun_at = begun_at - ${days * 86_400_000}`)
  const list = async () =>
    (await deliveries('list')).lines.filter((line) => line.includes('shop.example') || /^ *\d+ /.test(line))
  return { folder, path, env, run: retention.run, age, list, files: () => readdirSync(folder).toSorted() }
}

it('history leaves for files a day after its segment ended, and comes back from them', async () => {
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

it('pending deliveries keep the history of their segment', async () => {
  const { run, age, env, list, files } = await operated()
  await fillDeliveries(env, { integrationAddress: shop, payments: 1 })
  await run('run')
  age(2)
  const { lines } = await run('run')
  expect(lines).toContain(
    `Segment 0 stays: 1 of its deliveries to ${shop} are pending; --give-up marks them as exhausted.`,
  )
  expect([lines.at(-1), (await list()).length, files()]).toEqual(['Nothing was removed.', 4, []])
  expect((await run('run', '--give-up')).lines).toContain('Gave up 1 pending deliveries.')
  expect([await list(), files().length]).toEqual([[], 2])
})

it('without a time, without a folder, and with a damaged file it says what to do', async () => {
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
