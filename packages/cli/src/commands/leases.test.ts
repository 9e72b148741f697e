import { expect, it } from 'vitest'
import { onService } from '../../test/fill-deliveries.js'
import { getCommands } from '../../test/run-commands.js'
import { getEvents } from '../../test/test-io.js'

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
