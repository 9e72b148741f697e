import { describe, expect, it } from 'vitest'
import { fillDeliveries, onService } from '../../test/fill-deliveries.js'
import { accepted, operatedDeliveries, otherShop, rejected, shop, silent } from '../../test/operated-deliveries.js'
import { getCommands } from '../../test/run-commands.js'
import { getEvents, testIo } from '../../test/test-io.js'
import { runCli } from '../run-cli.js'

type Commands = Awaited<ReturnType<typeof operatedDeliveries>>

/** The deliveries that a list prints with `--json`. */
async function listed({ run }: Commands, ...args: string[]): Promise<Record<string, unknown>[]> {
  const events = getEvents((await run('list', '--json', ...args)).io)
  return events.filter(({ event }) => event === 'delivery').map(({ delivery }) => delivery as Record<string, unknown>)
}

describe('deliveries list', () => {
  it('prints a head and a line for each, oldest first', async () => {
    const commands = await operatedDeliveries()
    await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1, ...accepted })
    await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1, chainId: 137, ...silent })
    await fillDeliveries(commands.env, { integrationAddress: otherShop, payments: 1 })
    const { exitCode, lines, err } = await commands.run('list')
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    const head = /^id +created +status +chain +transaction +version +attempts +last answer +next attempt +integration$/
    const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`
    expect(lines).toEqual([
      expect.stringMatching(head),
      expect.stringMatching(new RegExp(`^1 +${time} +delivered +1 +0x\\S+ +v1 +1 +204 +- +0xa1a1a1..a1a1$`)),
      expect.stringMatching(new RegExp(`^2 +${time} +pending +137 +0x\\S+ +v1 +1 +timeout +${time} +0xa1a1a1..a1a1$`)),
      expect.stringMatching(new RegExp(`^3 +${time} +pending +1 +0x\\S+ +v1 +0 +- +${time} +0xb2b2b2..b2b2$`)),
    ])
  })

  it('prints all fields with --json', async () => {
    const commands = await operatedDeliveries()
    const [txHash] = await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1, ...rejected })
    expect(await listed(commands)).toEqual([
      {
        ...{ deliveryId: '1', integrationAddress: shop, chainId: 1, txHash, version: 1, status: 'exhausted' },
        createdAt: expect.any(Number),
        attempts: [{ startedAt: expect.any(Number), latencyMs: 25, ...rejected.answer, replay: false }],
        nextAttemptAt: null,
      },
    ])
  })

  it('prints deliveries that match all filters', async () => {
    const commands = await operatedDeliveries()
    const [first = ''] = await fillDeliveries(commands.env, { integrationAddress: shop, payments: 2, ...accepted })
    await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1, chainId: 137, ...rejected })
    await fillDeliveries(commands.env, { integrationAddress: otherShop, payments: 1 })
    const ids = async (...args: string[]) => (await listed(commands, ...args)).map(({ deliveryId }) => deliveryId)
    expect(await ids()).toEqual(['1', '2', '3', '4'])
    expect(await ids('--integration', shop.toUpperCase().replace('0X', '0x'))).toEqual(['1', '2', '3'])
    expect(await ids('--chain', '137')).toEqual(['3'])
    expect(await ids('--tx', first.toUpperCase().replace('0X', '0x'))).toEqual(['1'])
    expect(await ids('--status', 'pending')).toEqual(['4'])
    expect(await ids('--integration', shop, '--status', 'exhausted')).toEqual(['3'])
    expect(await ids('--integration', otherShop, '--status', 'exhausted')).toEqual([])
    expect(await ids('--since', '1h')).toEqual(['1', '2', '3', '4'])
    expect(await ids('--until', '1h')).toEqual([])
    expect(await ids('--since', '2020-01-01', '--until', '2020-01-02')).toEqual([])
    expect(await ids('--after', '2')).toEqual(['3', '4'])
  })

  it('reports omitted deliveries and how to print them, as text and as JSON', async () => {
    const commands = await operatedDeliveries()
    await fillDeliveries(commands.env, { integrationAddress: shop, payments: 53 })
    const text = await commands.run('list')
    expect(text.lines).toHaveLength(52)
    expect(text.lines.at(-1)).toBe('50 shown, 53 match in all; continue with --after 50, or print all with --all.')
    const events = getEvents((await commands.run('list', '--limit', '7', '--after', '10', '--json')).io)
    expect(events.at(-1)).toEqual({ event: 'more', shown: 7, afterId: '17', total: 53 })
    expect((await commands.run('list', '--after', '50')).lines).toHaveLength(4)
    expect((await commands.run('list', '--limit', '53')).lines).toHaveLength(54)
  })

  it('prints every page with --all, and the number with --count', async () => {
    const commands = await operatedDeliveries()
    await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1_001 })
    const ids = (await listed(commands, '--all')).map(({ deliveryId }) => Number(deliveryId))
    expect(ids).toEqual(Array.from({ length: 1_001 }, (_, index) => index + 1))
    expect((await commands.run('list', '--count')).out).toBe('1001')
    expect((await commands.run('list', '--count', '--status', 'exhausted')).out).toBe('0')
    expect(getEvents((await commands.run('list', '--count', '--json')).io)).toEqual([{ event: 'count', count: 1_001 }])
  })

  it('stops after the current page on Ctrl-C, and reports that more may match', async () => {
    const { env } = await operatedDeliveries()
    await fillDeliveries(env, { integrationAddress: shop, payments: 1_001 })
    const lines: string[] = []
    const out = (line: string) => {
      lines.push(line)
      io.interrupt()
    }
    const io = testIo({ env, out })
    expect(await runCli(['deliveries', 'list', '--all', '--json'], io)).toBe(1)
    expect(lines).toHaveLength(500)
    expect(io.errors).toEqual(['Interrupted; more deliveries may match.'])
  })
})

describe('deliveries show', () => {
  it('prints all details and attempts, without control characters of the receiver', async () => {
    const commands = await operatedDeliveries()
    const [txHash] = await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1, ...rejected })
    await commands.run('replay', '1')
    const { exitCode, lines } = await commands.run('show', '1')
    expect(exitCode).toBe(0)
    expect(lines).toEqual([
      'Delivery 1: pending',
      `  Integration   ${shop}`,
      `  Payment       chain 1, ${txHash}, version 1`,
      expect.stringMatching(/^ {2}Created {7}\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/),
      expect.stringMatching(/^ {2}Next attempt {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/),
      '  Attempts      1',
      expect.stringMatching(/^ {3}1 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.]\d{3}Z {2}503 {2}25 ms$/),
      '      | busy',
      '      |  [2Jtry again',
    ])
  })

  it('marks replays, and prints the reason of an attempt without an answer', async () => {
    const commands = await operatedDeliveries()
    await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1, ...silent })
    await commands.run('replay', '1')
    await onService(commands.env, async ({ store }) => {
      const [claim] = await store.deliveries.claim({ limit: 1, leaseMs: 60_000 })
      if (claim === undefined) throw new Error('the replay is not due')
      const answered = { status: 200, reason: null, excerpt: null, replay: true }
      const attempt = { startedAt: Date.now(), latencyMs: 1_500, ...answered }
      const unblocked = <T>(before: T) => ({ ...before, blockMs: null })
      await store.deliveries.settle([{ claim, attempt, verdict: { kind: 'delivered' } }], unblocked)
    })
    const { lines } = await commands.run('show', '1')
    expect(lines[0]).toBe('Delivery 1: delivered')
    expect(lines.slice(6)).toEqual([
      expect.stringMatching(/^ {3}1 {2}.* {2}timeout {2}25 ms$/),
      expect.stringMatching(/^ {3}2 {2}.* {2}200 {2}1,500 ms {2}replay$/),
    ])
  })

  it.each(['show', 'replay'])('%s of an unknown delivery exits with 1', async (command) => {
    const { run } = await operatedDeliveries()
    const err = 'There is no delivery "999999999999999"; list them to see their ids.'
    expect(await run(command, '999999999999999')).toMatchObject({ exitCode: 1, out: '', err })
  })
})

it('deliveries endpoints prints failing endpoints, as integrations list does', async () => {
  const commands = await operatedDeliveries()
  expect((await commands.run('endpoints')).lines).toEqual(['No endpoint is failing.'])
  expect((await commands.run('endpoints', '--json')).lines).toEqual([])
  await fillDeliveries(commands.env, { integrationAddress: shop, payments: 6, ...rejected, blockMs: 60_000 })
  const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`
  expect((await commands.run('endpoints')).lines).toEqual([
    expect.stringMatching(/^integration +failures +failing since +blocked until$/),
    expect.stringMatching(new RegExp(`^${shop} +6 +${time} +${time}$`)),
  ])
  const failing = `^ {2}endpoint failing since ${time}, 6 times in a row; see deliveries endpoints$`
  const endpoint = { integrationAddress: shop, failures: 6, blocks: 1 }
  const times = { failingSince: expect.any(Number), blockedUntil: expect.any(Number) }
  expect(getEvents((await commands.run('endpoints', '--json')).io)).toEqual([
    { event: 'endpoint', endpoint: { ...endpoint, ...times } },
  ])
  const integrations = getCommands('integrations', commands.env)
  const list = await integrations.run('list')
  expect(list.lines).toEqual([
    `${shop}  enabled   https://shop.example/webhook`,
    expect.stringMatching(new RegExp(failing)),
    `${otherShop}  enabled   https://shop.example/webhook`,
  ])
  expect(getEvents((await integrations.run('list', '--json')).io)).toMatchObject([
    { integration: { address: shop }, endpoint },
    { integration: { address: otherShop }, endpoint: null },
  ])
})

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
  commands.sql('delete from outbox')
  return commands
}

describe('deliveries check', () => {
  it('finds nothing while every delivery was sent, has ended or is pending', async () => {
    const { run } = await filled(3)
    const lines = ['6 versions examined, 0 deliveries are missing.']
    expect(await run('check')).toMatchObject({ exitCode: 0, lines, err: '' })
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
    const details = { status: 'missing', replayed: 3, from: expect.any(Number), through: expect.any(String) }
    expect(records.at(-1)).toMatchObject({ record: { actor: 'alice', action: 'deliveries.replayed', details } })
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
    const live = (lines: readonly string[]) => {
      screens.push(lines)
      io.interrupt()
    }
    const io = testIo({ env, live })
    expect(await runCli(['deliveries', 'check', '--repair'], io)).toBe(1)
    expect(screens).toEqual([['Checking: 5,000 versions examined, 5,000 deliveries missing'], []])
    expect(io.lines).toEqual([
      '5,000 versions examined, 5,000 deliveries are missing; 5,000 due again.',
      'Interrupted: older versions were not examined.',
    ])
    const rest = ['6,003 versions examined, 1,000 deliveries are missing; 1,000 due again.']
    expect(await run('check', '--repair')).toMatchObject({ exitCode: 0, lines: rest })
  })
})
