import { describe, expect, it } from 'vitest'
import { fillDeliveries } from '../../test/fill-deliveries.js'
import { accepted, operatedDeliveries, rejected, shop, silent } from '../../test/operated-deliveries.js'
import { getCommands } from '../../test/run-commands.js'
import { getEvents, testIo } from '../../test/test-io.js'
import { openSqlite } from '../files.js'
import { runCli } from '../run-cli.js'

/** A database with deliveries of each kind of end, and some that are pending. */
async function filled(pending: number) {
  const commands = await operatedDeliveries()
  await fillDeliveries(commands.env, { integrationAddress: shop, payments: 2, ...accepted })
  await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1, ...rejected })
  await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1, ...silent })
  await fillDeliveries(commands.env, { integrationAddress: shop, payments: pending - 1 })
  return commands
}

/** The database as of a copy whose outbox was read too late. */
async function restored(pending: number) {
  const commands = await filled(pending)
  const database = openSqlite(commands.path)
  database.exec('delete from outbox')
  database.close()
  return commands
}

describe('deliveries check', () => {
  it('finds nothing while every delivery was sent, has ended or is pending', async () => {
    const { run } = await filled(3)
    expect(await run('check')).toMatchObject({
      exitCode: 0,
      lines: ['6 versions examined, 0 deliveries are missing.'],
      err: '',
    })
  })

  it('counts missing deliveries, changes nothing and exits with 1; --repair makes them due again', async () => {
    const { run, env } = await restored(3)
    const summary = '6 versions examined, 3 deliveries are missing'
    const advice = 'deliveries list --status missing prints them; deliveries check --repair makes them due again.'
    for (let times = 0; times < 2; times += 1)
      expect(await run('check')).toMatchObject({ exitCode: 1, lines: [`${summary}.`, advice], err: '' })
    expect((await run('list', '--status', 'missing', '--count')).out).toBe('3')
    expect((await run('list', '--status', 'delivered', '--count')).out).toBe('2')
    const repair = await run('check', '--repair', '--actor', 'alice')
    expect(repair).toMatchObject({ exitCode: 0, lines: [`${summary}; 3 due again.`] })
    expect((await run('list', '--status', 'pending', '--count')).out).toBe('3')
    expect((await run('check')).exitCode).toBe(0)
    const records = getEvents((await getCommands('audit', env).run('list', '--all', '--json')).io)
    expect(records.at(-1)).toMatchObject({
      record: {
        actor: 'alice',
        action: 'deliveries.replayed',
        details: { status: 'missing', replayed: 3, from: expect.any(Number), through: expect.any(String) },
      },
    })
  })

  it('prints one object with --json', async () => {
    const { run } = await restored(2)
    const totals = { event: 'check.done', examined: 5, missing: 2, interrupted: false }
    expect(getEvents((await run('check', '--json')).io)).toEqual([{ ...totals, requeued: 0, repair: false }])
    expect(getEvents((await run('check', '--repair', '--json')).io)).toEqual([{ ...totals, requeued: 2, repair: true }])
  })

  it('shows its progress, stops on Ctrl-C after a part, and the same command repairs the rest', async () => {
    const { env, run } = await restored(6_000)
    const screens: (readonly string[])[] = []
    const io = testIo({
      env,
      live(lines) {
        screens.push(lines)
        io.interrupt()
      },
    })
    expect(await runCli(['deliveries', 'check', '--repair'], io)).toBe(1)
    expect(screens).toEqual([['Checking: 5,000 versions examined, 5,000 deliveries missing'], []])
    expect(io.lines).toEqual([
      '5,000 versions examined, 5,000 deliveries are missing; 5,000 due again.',
      'Interrupted: older versions were not examined.',
    ])
    expect(await run('check', '--repair')).toMatchObject({
      exitCode: 0,
      lines: ['6,003 versions examined, 1,000 deliveries are missing; 1,000 due again.'],
    })
  })
})
