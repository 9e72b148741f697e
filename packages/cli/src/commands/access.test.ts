import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { onService } from '../../test/fill-deliveries.js'
import { testMasterKey } from '../../test/master-key.js'
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
    const taken = 'Operator alice exists already; reset it for a new one-time link.'
    expect(await run('create', 'ALICE')).toMatchObject({ exitCode: 1, out: '', err: taken })
    const invalid = await run('create', 'al ice')
    expect(invalid).toMatchObject({ exitCode: 2, out: '' })
    expect(invalid.err).toMatch(/^An operator name has 1 to 64 letters, /)
    const role = await run('create', 'bob', '--role', 'root')
    expect(role).toMatchObject({ exitCode: 2, out: '' })
    expect(role.err).toContain('Allowed choices are viewer, operator, admin.')
  })
})

it('operators list prints one line each, by name', async () => {
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
      const disabled = 'Operator alice is disabled; enable it before you reset it.'
      expect(await run('reset', 'alice')).toMatchObject({ exitCode: 1, err: disabled })
      expect((await run('enable', 'alice')).out).toMatch(/^alice {2}admin {2}active {2}/)
      const reset = await run('reset', 'alice')
      expect(reset.out).toContain('Reset operator alice: the passphrase is removed, and all sessions have ended.')
      const redeemed = await sessions.redeemLink({ linkToken: tokenIn(reset.out), passphrase })
      expect(redeemed).toEqual({ name: 'alice', role: 'admin' })
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
      const err = 'There is no operator "nobody"; create it first.'
      expect(await run(command, 'nobody', ...rest)).toMatchObject({ exitCode: 1, out: '', err })
    },
  )
})

describe('operators create --oidc and reset --oidc', () => {
  it('make operators of the OpenID provider, and print no link', async () => {
    const { run, env } = getCommands('operators', { PI_CONSOLE_URL: 'https://pay.example' })
    const created = await run('create', 'alice@shop.example', '--role', 'operator', '--oidc')
    const text = 'Created operator alice@shop.example with the role operator; sign-in is at the OpenID provider.'
    expect(created.out).toContain(text)
    await run('create', 'bob')
    const reset = await run('reset', 'bob', '--oidc')
    expect(reset.out).toContain('Reset operator bob: all sessions have ended, and sign-in is at the OpenID provider.')
    expect(created.out + reset.out).not.toContain('pi_link_')
    expect((await run('list')).lines).toEqual([
      expect.stringMatching(/^name /),
      expect.stringMatching(/^alice@shop.example {2}operator {2}oidc {3}\d{4}-/),
      expect.stringMatching(/^bob {17}viewer {4}oidc {3}\d{4}-/),
    ])
    const signedIn = await onService(env, ({ operatorSessions }) =>
      operatorSessions.signInProved({ name: 'bob', source: '192.0.2.1', issuer: 'https://id.example' }),
    )
    expect(signedIn.operator).toEqual({ name: 'bob', role: 'viewer' })
  })

  it('say that no provider is configured, only where none is', async () => {
    const warning = 'PI_OIDC_ISSUER is not set here'
    const bare = getCommands('operators')
    for (const command of ['create', 'reset'])
      expect((await bare.run(command, 'alice', '--oidc')).out).toContain(warning)
    const site = { PI_CONSOLE: 'on', PI_CONSOLE_URL: 'https://pay.example', PI_OIDC_ISSUER: 'https://id.example' }
    const client = { PI_OIDC_CLIENT_ID: 'console', PI_OIDC_CLIENT_SECRET: 'a-secret-of-the-provider' }
    const withProvider = getCommands('operators', { ...site, ...client })
    expect((await withProvider.run('create', 'alice', '--oidc')).out).not.toContain(warning)
  })

  it('print one JSON object with --json', async () => {
    const { run } = getCommands('operators')
    const [created] = getEvents((await run('create', 'alice', '--oidc', '--json')).io)
    const [reset] = getEvents((await run('reset', 'alice', '--oidc', '--json')).io)
    const operator = { name: 'alice', signsInBy: 'oidc', hasPassphrase: false, linkExpiresAt: null }
    expect([created, reset]).toMatchObject([
      { event: 'operator.created', operator },
      { event: 'operator.reset', operator },
    ])
    expect(JSON.stringify([created, reset])).not.toContain('link"')
  })
})

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
    const key = { id: expect.any(String), name: '', createdAt: expect.any(Number), revokedAt: null }
    expect(getEvents(io)).toEqual([{ event: 'legacy_key.created', key, apiKey: expect.any(String) }])
    expect(await isAccepted(env, String(event?.['apiKey']))).toBe(true)
    expect(await isAccepted(env, `${event?.['apiKey']}x`)).toBe(false)
  })
})

it('legacy-keys list prints one line each, oldest first', async () => {
  const { run } = getCommands('legacy-keys')
  const first = await created(run, '--name', 'Till 1')
  const second = await created(run)
  const { lines } = await run('list')
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^${first.key.id}  active   \\d{4}-\\d\\d-\\d\\d  Till 1$`)),
    expect.stringMatching(new RegExp(`^${second.key.id}  active   \\d{4}-\\d\\d-\\d\\d$`)),
  ])
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

const address = `0x${'a1'.repeat(20)}`
const newKey = 'fedcba9876543210'.repeat(4)

/** A database with an integration and a legacy key under the first master key, and the commands under both keys. */
async function withTwoKeys() {
  const old = getCommands('integrations')
  await old.run('create', address)
  const [issued] = getEvents((await getCommands('legacy-keys', old.env).run('create', '--json')).io)
  const { id } = { ...(issued?.['key'] as object) } as { id: string }
  const both = { ...old.env, PI_MASTER_KEY: `${newKey},${testMasterKey}` }
  const alone = { ...old.env, PI_MASTER_KEY: newKey }
  const reseal = (env: Record<string, string>, ...args: string[]) => getCommands('secrets', env).run('reseal', ...args)
  return { both, alone, id, reseal }
}

describe('secrets reseal', () => {
  it('encrypts signing secrets, and prints which secrets need the older key and how to replace them', async () => {
    const { both, alone, id, reseal } = await withTwoKeys()
    const { exitCode, lines } = await reseal(both)
    expect(exitCode).toBe(0)
    expect(lines).toEqual([
      'Encrypted with the newest master key: 1 signing secret, 0 data keys.',
      '1 API secret needs an older master key, including previous secrets in their grace time.',
      'Rotate each secret, deploy the new one, and run this command again after the grace time:',
      `  payment-integration integrations rotate-secret ${address}`,
      '1 legacy API key needs an older master key.',
      'Create a new key for each caller, then run:',
      `  payment-integration legacy-keys revoke ${id}`,
      'Leave the older keys in PI_MASTER_KEY, after the newest, until this command reports that no secret needs them.',
    ])
    const { exitCode: rejected, err } = await reseal(alone)
    expect(rejected).toBe(1)
    expect(err).toContain('Master keys are missing: integrations.api_secret')
  })

  it('reports when no secret needs the older key, and then works without it', async () => {
    const { both, alone, id, reseal } = await withTwoKeys()
    await reseal(both)
    await getCommands('integrations', both).run('rotate-secret', address, '--grace', '0s')
    await getCommands('legacy-keys', both).run('revoke', id)
    const { lines } = await reseal(both)
    expect(lines).toEqual([
      'All signing secrets and data keys were already encrypted with the newest master key.',
      expect.stringMatching(
        /^No secret needs an older master key[.] Remove the older keys from PI_MASTER_KEY, but store them/,
      ),
    ])
    expect(getEvents((await reseal(alone, '--json')).io)).toEqual([
      { event: 'secrets.resealed', resealed: 0, dataKeys: 0, olderApiSecrets: [], olderLegacyKeys: [] },
    ])
  })
})
