import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { onService } from '../../test/fill-deliveries.js'
import { getCommands } from '../../test/run-commands.js'
import { getEvents } from '../../test/test-io.js'

const created = async (run: ReturnType<typeof getCommands>['run'], ...args: string[]) =>
  getEvents((await run('create', '--json', ...args)).io)[0] as { key: { id: string }; apiKey: string }

/** Whether the service on the database accepts a key. */
const isAccepted = (env: Record<string, string>, apiKey: string) =>
  onService(env, async (service) => (await service.authenticateLegacy(`Bearer ${apiKey}`)) !== null)

describe('legacy-keys create', () => {
  it('prints the key only once, with its use', async () => {
    const { run, path } = getCommands('legacy-keys')
    const { exitCode, out, err } = await run('create', '--name', 'Till 4')
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(out).toMatch(/^Created legacy API key \S+ \(Till 4\)\.$/m)
    expect(out).toContain('Authorization: <key>')
    expect(out).toContain('shown only this once')
    const [, apiKey = ''] = /API key {2}(\S{32,})$/m.exec(out) ?? []
    expect(out.split(apiKey)).toHaveLength(2)
    for (const again of [await run('list'), await run('list', '--json')]) expect(again.out).not.toContain(apiKey)
    expect(readFileSync(path).includes(apiKey)).toBe(false)
  })

  it('prints one JSON object with --json, and the service accepts the key', async () => {
    const { run, env } = getCommands('legacy-keys')
    const { io } = await run('create', '--json')
    const [event] = getEvents(io)
    expect(getEvents(io)).toEqual([
      {
        event: 'legacy_key.created',
        key: { id: expect.any(String), name: '', createdAt: expect.any(Number), revokedAt: null },
        apiKey: expect.any(String),
      },
    ])
    expect(await isAccepted(env, String(event?.['apiKey']))).toBe(true)
    expect(await isAccepted(env, `${event?.['apiKey']}x`)).toBe(false)
  })
})

describe('legacy-keys list', () => {
  it('prints one line each, oldest first', async () => {
    const { run } = getCommands('legacy-keys')
    const first = await created(run, '--name', 'Till 1')
    const second = await created(run)
    const { lines } = await run('list')
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^${first.key.id}  active   \\d{4}-\\d\\d-\\d\\d  Till 1$`)),
      expect.stringMatching(new RegExp(`^${second.key.id}  active   \\d{4}-\\d\\d-\\d\\d$`)),
    ])
  })
})

describe('legacy-keys revoke', () => {
  it('revokes that key, and no other', async () => {
    const { run, env } = getCommands('legacy-keys')
    const one = await created(run)
    const two = await created(run)
    const { exitCode, out } = await run('revoke', one.key.id)
    expect(exitCode).toBe(0)
    expect(out).toContain(`${one.key.id}  revoked`)
    expect([await isAccepted(env, one.apiKey), await isAccepted(env, two.apiKey)]).toEqual([false, true])
  })

  it('of an unknown key exits with 1; revoking twice keeps the first time', async () => {
    const { run } = getCommands('legacy-keys')
    const { key } = await created(run)
    const unknown = await run('revoke', 'nobody')
    expect(unknown).toMatchObject({ exitCode: 1, out: '', err: 'There is no legacy API key "nobody".' })
    const [first] = getEvents((await run('revoke', key.id, '--json')).io)
    expect(first).toMatchObject({ event: 'legacy_key.revoked', key: { revokedAt: expect.any(Number) } })
    expect(getEvents((await run('revoke', key.id, '--json')).io)).toEqual([first])
  })
})
