import { describe, expect, it } from 'vitest'
import { onService } from '../../test/fill-deliveries.js'
import { getCommands } from '../../test/run-commands.js'
import { getEvents } from '../../test/test-io.js'

describe('operators create --oidc and reset --oidc', () => {
  it('make operators of the OpenID provider, and print no link', async () => {
    const { run, env } = getCommands('operators', { PI_CONSOLE_URL: 'https://pay.example' })
    const created = await run('create', 'alice@shop.example', '--role', 'operator', '--oidc')
    expect(created.out).toContain(
      'Created operator alice@shop.example with the role operator; it signs in at the OpenID provider.',
    )
    await run('create', 'bob')
    const reset = await run('reset', 'bob', '--oidc')
    expect(reset.out).toContain('Reset operator bob: all sessions have ended, and it signs in at the OpenID provider.')
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
    const withProvider = getCommands('operators', {
      PI_CONSOLE: 'on',
      PI_CONSOLE_URL: 'https://pay.example',
      PI_OIDC_ISSUER: 'https://id.example',
      PI_OIDC_CLIENT_ID: 'console',
      PI_OIDC_CLIENT_SECRET: 'a-secret-of-the-provider',
    })
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
