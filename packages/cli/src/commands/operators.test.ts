import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { onService } from '../../test/fill-deliveries.js'
import { getCommands } from '../../test/run-commands.js'
import { getEvents } from '../../test/test-io.js'

const passphrase = 'correct horse battery'

const tokenIn = (text: string) => /#(pi_link_[A-Za-z0-9_-]{43})/.exec(text)?.[1] ?? ''

describe('operators create', () => {
  it('prints the one-time link only once, with the token in the fragment', async () => {
    const { run, path } = getCommands('operators', { PI_CONSOLE_URL: 'https://pay.example' })
    const { exitCode, out, err } = await run('create', 'Alice', '--role', 'operator')
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(out).toMatch(/^Created operator alice with the role operator[.]$/m)
    expect(out).toMatch(/^ {2}One-time link {2}https:\/\/pay[.]example\/console\/join#pi_link_[A-Za-z0-9_-]{43}$/m)
    expect(out).toMatch(/^ {2}Valid until {4}\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/m)
    expect(out).toContain('shown only this once')
    expect(out).not.toContain('PI_CONSOLE_URL')
    const token = tokenIn(out)
    expect(out.split(token)).toHaveLength(2)
    for (const again of [await run('list'), await run('list', '--json')]) expect(again.out).not.toContain(token)
    expect(readFileSync(path).includes(token)).toBe(false)
  })

  it('without PI_CONSOLE_URL prints the path of the link and what to set', async () => {
    const { run } = getCommands('operators')
    for (const command of ['create', 'reset']) {
      const { exitCode, lines, out } = await run(command, 'alice')
      expect(exitCode).toBe(0)
      expect(out).toMatch(/^ {2}One-time link {2}\/console\/join#pi_link_[A-Za-z0-9_-]{43}$/m)
      expect(lines.slice(-2)).toEqual([
        'PI_CONSOLE_URL is not set: put the address of the console before the link, such as https://pay.example.',
        'Operators can sign in once the server runs with PI_CONSOLE=on and PI_CONSOLE_URL.',
      ])
    }
  })

  it('makes the link for PI_CONSOLE_URL, prints one JSON object with --json, and the service accepts it', async () => {
    const { run, env, path } = getCommands('operators', { PI_CONSOLE_URL: 'https://pay.example' })
    const { io, out } = await run('create', 'alice', '--json')
    expect(getEvents(io)).toEqual([
      {
        event: 'operator.created',
        operator: {
          ...{ name: 'alice', role: 'viewer', enabled: true, createdAt: expect.any(Number) },
          ...{ signsInBy: 'passphrase', hasPassphrase: false, linkExpiresAt: expect.any(Number) },
        },
        link: expect.stringMatching(/^https:\/\/pay[.]example\/console\/join#pi_link_/),
      },
    ])
    const linkToken = tokenIn(out)
    const name = await onService(env, async ({ operatorSessions: sessions }) => {
      await sessions.redeemLink({ linkToken, passphrase })
      const { sessionToken } = await sessions.signIn({ name: 'alice', passphrase, source: '127.0.0.1' })
      return sessions.authenticate(sessionToken)
    })
    expect(name).toEqual({ name: 'alice', role: 'viewer' })
    expect(readFileSync(path).includes(passphrase)).toBe(false)
  })

  it('of a taken name exits with 1; of an invalid name or role with 2', async () => {
    const { run } = getCommands('operators')
    await run('create', 'alice')
    expect(await run('create', 'ALICE')).toMatchObject({
      exitCode: 1,
      out: '',
      err: 'Operator alice exists already; reset it for a new one-time link.',
    })
    const invalid = await run('create', 'al ice')
    expect(invalid).toMatchObject({ exitCode: 2, out: '' })
    expect(invalid.err).toMatch(/^An operator name has 1 to 64 letters, /)
    const role = await run('create', 'bob', '--role', 'root')
    expect(role).toMatchObject({ exitCode: 2, out: '' })
    expect(role.err).toContain('Allowed choices are viewer, operator, admin.')
  })
})

describe('operators list', () => {
  it('prints one line each, by name', async () => {
    const { run } = getCommands('operators')
    await run('create', 'bob', '--role', 'admin')
    await run('create', 'alice')
    await run('disable', 'alice')
    const { lines } = await run('list')
    expect(lines).toEqual([
      'name   role    state          created',
      expect.stringMatching(/^alice {2}viewer {2}disabled {7}\d{4}-\d\d-\d\d$/),
      expect.stringMatching(/^bob {4}admin {3}no passphrase {2}\d{4}-\d\d-\d\d$/),
    ])
    const listed = getEvents((await run('list', '--json')).io)
    expect(listed).toMatchObject([
      { event: 'operator', operator: { name: 'alice', enabled: false, linkExpiresAt: null } },
      { event: 'operator', operator: { name: 'bob', role: 'admin' } },
    ])
    expect(JSON.stringify(listed)).not.toContain('hash')
  })
})

describe('operators disable, enable, set-role and reset', () => {
  it('change that operator, in a running service at once', async () => {
    const { run, env } = getCommands('operators')
    const linkToken = tokenIn((await run('create', 'alice')).out)
    await run('create', 'bob')
    await onService(env, async ({ operatorSessions: sessions }) => {
      await sessions.redeemLink({ linkToken, passphrase })
      const { sessionToken } = await sessions.signIn({ name: 'alice', passphrase, source: '127.0.0.1' })
      expect((await run('set-role', 'alice', 'admin')).out).toMatch(/^alice {2}admin {2}active {2}/)
      expect(await sessions.authenticate(sessionToken)).toEqual({ name: 'alice', role: 'admin' })
      expect((await run('disable', 'alice')).out).toMatch(/^alice {2}admin {2}disabled {2}/)
      expect(await sessions.authenticate(sessionToken)).toBeNull()
      expect(await run('reset', 'alice')).toMatchObject({
        exitCode: 1,
        err: 'Operator alice is disabled; enable it before you reset it.',
      })
      expect((await run('enable', 'alice')).out).toMatch(/^alice {2}admin {2}active {2}/)
      const reset = await run('reset', 'alice')
      expect(reset.out).toContain('Reset operator alice: the passphrase is removed, and all sessions have ended.')
      expect(await sessions.redeemLink({ linkToken: tokenIn(reset.out), passphrase })).toEqual({
        name: 'alice',
        role: 'admin',
      })
    })
    expect(getEvents((await run('list', '--json')).io)).toMatchObject([
      { operator: { name: 'alice', role: 'admin', enabled: true, hasPassphrase: true } },
      { operator: { name: 'bob', role: 'viewer', enabled: true, hasPassphrase: false } },
    ])
  })

  it('print one JSON object with --json', async () => {
    const { run } = getCommands('operators')
    await run('create', 'alice')
    const events = []
    for (const command of ['set-role alice admin', 'disable alice', 'enable alice', 'reset alice'])
      events.push(...getEvents((await run(...command.split(' '), '--json')).io))
    const operator = { name: 'alice', role: 'admin' }
    expect(events).toMatchObject(
      ['role_set', 'disabled', 'enabled', 'reset'].map((done) => ({ event: `operator.${done}`, operator })),
    )
  })

  it.each([['disable'], ['enable'], ['reset'], ['set-role', 'admin']])(
    '%s of an unknown operator exits with 1',
    async (command, ...rest) => {
      const { run, make } = getCommands('operators')
      await make()
      expect(await run(command, 'nobody', ...rest)).toMatchObject({
        exitCode: 1,
        out: '',
        err: 'There is no operator "nobody"; create it first.',
      })
    },
  )
})
