import { describe, expect, it } from 'vitest'
import { fillDeliveries, onService } from '../../test/fill-deliveries.js'
import { accepted, operatedDeliveries, otherShop, rejected, shop } from '../../test/operated-deliveries.js'
import { getCommands } from '../../test/run-commands.js'
import { getEvents, testIo } from '../../test/test-io.js'
import { runCli } from '../run-cli.js'

type Commands = Awaited<ReturnType<typeof operatedDeliveries>>

const countOf = async ({ run }: Commands, ...args: string[]) => Number((await run('list', '--count', ...args)).out)
const audited = async ({ env }: Commands) =>
  getEvents((await getCommands('audit', env).run('list', '--all', '--json')).io)

describe('deliveries replay', () => {
  it('makes one due whatever its status, and names the command that prints its attempts', async () => {
    const commands = await operatedDeliveries()
    await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1, ...accepted })
    const { exitCode, out } = await commands.run('replay', '1')
    expect([exitCode, out]).toEqual([0, 'Delivery 1 is due now; deliveries show 1 prints its attempts.'])
    const [event] = getEvents((await commands.run('replay', '1', '--json')).io)
    const delivery = { deliveryId: '1', status: 'pending' }
    expect(event).toMatchObject({ event: 'delivery.replayed', pauseReason: null, delivery })
  })

  it('reports that it waits for a disabled integration or one without a URL', async () => {
    const commands = await operatedDeliveries()
    await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1, ...rejected })
    const integrations = getCommands('integrations', commands.env)
    await integrations.run('disable', shop)
    const waits = 'Delivery 1 is due, but waits until the integration'
    expect((await commands.run('replay', '1')).out).toBe(`${waits} is enabled.`)
    await integrations.run('enable', shop)
    await integrations.run('set-url', shop, 'none')
    expect((await commands.run('replay', '1')).out).toBe(`${waits} has a URL.`)
  })
})

it('a delivery with an attempt in flight is not replayed: the command exits with 1', async () => {
  const commands = await operatedDeliveries()
  await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1 })
  await onService(commands.env, ({ store }) => store.deliveries.claim({ limit: 1, leaseMs: 60_000 }))
  const err = 'Delivery 1 is being attempted at this moment; look at it again in a few seconds.'
  expect(await commands.run('replay', '1')).toMatchObject({ exitCode: 1, out: '', err })
  expect((await audited(commands)).filter(({ record }) => JSON.stringify(record).includes('replayed'))).toEqual([])
})

describe('deliveries replay-failed --dry-run', () => {
  it('prints the number for each integration, and changes nothing', async () => {
    const commands = await operatedDeliveries()
    await fillDeliveries(commands.env, { integrationAddress: shop, payments: 3, ...rejected })
    await fillDeliveries(commands.env, { integrationAddress: otherShop, payments: 1, ...rejected })
    await fillDeliveries(commands.env, { integrationAddress: otherShop, payments: 1, ...accepted })
    await getCommands('integrations', commands.env).run('disable', otherShop)
    const getState = async () =>
      JSON.stringify([await commands.run('list', '--all', '--json'), await audited(commands)])
    const before = await getState()
    const { exitCode, lines } = await commands.run('replay-failed', '--dry-run')
    expect(exitCode).toBe(0)
    expect(lines).toEqual([
      expect.stringMatching(/^integration +deliveries$/),
      expect.stringMatching(new RegExp(`^${shop} +3$`)),
      expect.stringMatching(new RegExp(`^${otherShop} +1 +waits until the integration is enabled$`)),
      '4 deliveries would be replayed; nothing was changed.',
    ])
    expect(getEvents((await commands.run('replay-failed', '--integration', shop, '--dry-run', '--json')).io)).toEqual([
      { event: 'replay.planned', total: 3, integrations: [{ integrationAddress: shop, count: 3, pauseReason: null }] },
    ])
    expect(await getState()).toBe(before)
  })

  it('reports that none matches', async () => {
    const commands = await operatedDeliveries()
    for (const more of [['--dry-run'], []])
      expect((await commands.run('replay-failed', '--since', '1h', ...more)).out).toBe('No exhausted delivery matches.')
  })
})

describe('deliveries replay-failed', () => {
  it('replays more than a thousand with a bar, and changes no other delivery', async () => {
    const commands = await operatedDeliveries()
    await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1_250, ...rejected })
    await fillDeliveries(commands.env, { integrationAddress: otherShop, payments: 2, ...rejected })
    await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1, ...accepted })
    const screens: (readonly string[])[] = []
    const io = testIo({ env: commands.env, live: (lines) => void screens.push(lines) })
    expect(await runCli(['deliveries', 'replay-failed', '--integration', shop], io)).toBe(0)
    expect(io.lines).toEqual(['1,250 deliveries are due now.'])
    expect(screens).toEqual([
      [expect.stringMatching(/^Replaying \[#{19}-{5}\] 80 %, 1,000 of 1,250/)],
      [expect.stringMatching(/^Replaying \[#{24}\] 100 %, 1,250 of 1,250/)],
      [],
    ])
    expect(await countOf(commands, '--status', 'pending')).toBe(1_250)
    expect(await countOf(commands, '--status', 'exhausted')).toBe(2)
    expect(await countOf(commands, '--status', 'delivered')).toBe(1)
  })

  it('prints progress with --json after each part, and records the actor', async () => {
    const commands = await operatedDeliveries()
    await fillDeliveries(commands.env, { integrationAddress: shop, payments: 1_001, ...rejected })
    const { exitCode, io } = await commands.run('replay-failed', '--all', '--json', '--actor', 'alice')
    expect(exitCode).toBe(0)
    const total = 1_001
    expect(getEvents(io)).toEqual([
      { event: 'replay.progress', replayed: 1_000, inFlight: 0, total },
      { event: 'replay.progress', replayed: total, inFlight: 0, total },
      { event: 'replay.done', replayed: total, inFlight: 0, total, interrupted: false },
    ])
    const replays = (await audited(commands)).map(({ record }) => record as Record<string, unknown>)
    expect(replays.filter(({ action }) => action === 'deliveries.replayed')).toMatchObject([
      { actor: 'alice', details: { replayed: 1_000 } },
      { actor: 'alice', details: { replayed: 1 } },
    ])
  })

  it('stops on Ctrl-C and reports what was done; the same command continues with the rest', async () => {
    const commands = await operatedDeliveries()
    await fillDeliveries(commands.env, { integrationAddress: shop, payments: 2_500, ...rejected })
    const io = testIo({ env: commands.env, live: (lines) => lines.length > 0 && io.interrupt() })
    expect(await runCli(['deliveries', 'replay-failed', '--all'], io)).toBe(1)
    expect(io.lines).toEqual([
      '1,000 deliveries are due now.',
      'Interrupted with 1,500 left; the same command continues with them.',
    ])
    expect(io.errors).toEqual([])
    expect(await countOf(commands, '--status', 'exhausted')).toBe(1_500)
    expect((await commands.run('replay-failed', '--all')).lines).toEqual(['1,500 deliveries are due now.'])
    expect(await countOf(commands, '--status', 'exhausted')).toBe(0)
  })
})
