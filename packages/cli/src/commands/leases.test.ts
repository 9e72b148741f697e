import { openService, readConfig } from '@payment-integration/server/service'
import { expect, it } from 'vitest'
import { getCommands } from '../../test/run-commands.js'
import { getEvents } from '../../test/test-io.js'

it('lists and releases a lease, and the audit log says who released it', async () => {
  const { run, env } = getCommands('leases')
  const open = () => openService(readConfig({ ...env, PI_LOG_LEVEL: 'silent' }))
  const first = await open()
  await first.service.store.leases.acquire({ name: 'indexer:137', holder: 'dead process', ttlMs: 60_000 })
  await first.close()
  expect((await run('list')).out).toMatch(/^indexer:137 {2}dead process {2}ends in \d+ s$/m)
  const missing = await run('release', 'indexer:1')
  expect({ code: missing.exitCode, err: missing.err }).toEqual({
    code: 1,
    err: expect.stringContaining('There is no lease "indexer:1"'),
  })
  const { exitCode, io } = await run('release', 'indexer:137', '--json')
  expect({ exitCode, events: getEvents(io) }).toEqual({
    exitCode: 0,
    events: [{ event: 'lease.released', lease: expect.objectContaining({ holder: 'dead process' }) }],
  })
  const second = await open()
  expect(await second.service.leases.list()).toEqual([])
  expect(await second.service.audit.list({ limit: 10 })).toContainEqual(
    expect.objectContaining({ action: 'lease.released', subject: 'indexer:137' }),
  )
  await second.close()
})
