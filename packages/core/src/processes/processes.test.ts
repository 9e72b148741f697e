import { expect, test } from 'vitest'
import { manualClock } from '../../test/support/manual-clock.js'
import { recordingLogger } from '../../test/support/recording-logger.js'
import { openStore } from '../../test/support/store.js'
import { start as startLoop } from '../../test/support/until.js'
import type { Loop } from '../internal/values.js'
import { createPresence, listProcesses, runLoops } from './processes.js'

const facts = { host: 'pod-1', pid: 7, release: '0.1.0', roles: ['api', 'indexer:137'] }
const listed = { id: 'a', ...facts, startedAt: 1_000_000, silentMs: null, leases: [] }

function setUp() {
  const clock = manualClock(1_000_000)
  const leases = openStore({ clock }).leases
  function start(id: string, more: Partial<typeof facts> = {}) {
    const loop = createPresence({ leases, clock, logger: recordingLogger(), id, facts: { ...facts, ...more } })
    return startLoop(loop)
  }
  return { clock, leases, start, list: () => listProcesses(leases) }
}

test('a process is listed with its facts and leases while it runs, and not after its shutdown', async () => {
  const { clock, leases, start, list } = setUp()
  const first = start('a')
  await clock.advance(1_000)
  const second = start('b', { host: 'pod-2', roles: ['dispatcher'] })
  await leases.acquire({ name: 'indexer:137', holder: 'a', ttlMs: 600_000 })
  await leases.acquire({ name: 'indexer:10', holder: 'a', ttlMs: 1 })
  await clock.advance(300_000)
  expect(await list()).toEqual([
    { ...listed, leases: ['indexer:137'] },
    { ...listed, id: 'b', host: 'pod-2', roles: ['dispatcher'], startedAt: 1_001_000 },
  ])
  await first.stop()
  expect((await list()).map(({ id }) => id)).toEqual(['b'])
  await second.stop()
  expect(await leases.list()).toMatchObject([{ name: 'indexer:10' }, { name: 'indexer:137' }])
})

test('a killed process is silent after 30 s, and listed for a day', async () => {
  const { clock, leases, start, list } = setUp()
  await leases.acquire({ name: 'process:a', holder: '1000000\n7\npod-1\n0.1.0\napi,indexer:137', ttlMs: 30_000 })
  await clock.advance(90_000)
  expect(await list()).toEqual([{ ...listed, silentMs: 60_000 }])
  const next = start('b')
  await clock.advance(1)
  expect((await list()).map(({ id }) => id)).toEqual(['a', 'b'])
  await next.stop()
  await clock.advance(24 * 60 * 60_000)
  expect(await list()).toEqual([])
  const last = start('c')
  await clock.advance(1)
  expect((await list()).map(({ id }) => id)).toEqual(['c'])
  await last.stop()
  expect(await leases.list()).toEqual([])
})

test('a process that was killed while the clock was an hour ahead is not listed as running', async () => {
  const { clock, leases, start, list } = setUp()
  await leases.acquire({ name: 'process:a', holder: '1000000\n7\npod-1\n0.1.0\napi', ttlMs: 3_600_000 })
  const living = start('b')
  await clock.advance(1)
  expect((await list()).map(({ id, silentMs }) => `${id} ${silentMs}`)).toEqual(['a 0', 'b null'])
  await living.stop()
})

/** A loop that drains for one turn once it is told to end. */
function loop(ended: string[], name: string): Loop {
  return {
    run: (signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => setImmediate(() => resolve(void ended.push(name))), { once: true })
      }),
  }
}

test('the loops run until the signal aborts, and are drained', async () => {
  const ended: string[] = []
  const stop = new AbortController()
  const run = runLoops([loop(ended, 'a'), loop(ended, 'b')], stop.signal)
  stop.abort()
  await run
  expect(ended).toEqual(['a', 'b'])
})

test('a loop that fails ends the others, and is reported once they are drained', async () => {
  const ended: string[] = []
  const failing: Loop = { run: () => Promise.reject(new Error('broken')) }
  await expect(runLoops([loop(ended, 'a'), failing], new AbortController().signal)).rejects.toThrow('broken')
  expect(ended).toEqual(['a'])
})
