import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { problemsIn } from '../../test/support/config-problems.js'
import { describeConfig } from './describe-config.js'
import { readConfig } from './read-config.js'

const console = { PI_MASTER_KEY: randomBytes(32).toString('base64url'), PI_CONSOLE_URL: 'https://pay.example' }
const secret = 'canary-of-a-client-secret'
const oidc = {
  PI_OIDC_ISSUER: 'https://id.example/realms/shop',
  PI_OIDC_CLIENT_ID: 'pay',
  PI_OIDC_CLIENT_SECRET: secret,
}

const problemsOf = (env: Record<string, string>) => problemsIn(() => readConfig({ ...console, ...env }))

test('the provider is read from its variables, and described without its secret', () => {
  const config = readConfig({ ...console, ...oidc })
  expect(config.oidc).toEqual({
    issuer: 'https://id.example/realms/shop',
    clientId: 'pay',
    clientSecret: secret,
    nameClaim: 'email',
  })
  expect(describeConfig(config).oidc).toBe('https://id.example as client pay, names by email')
  expect(JSON.stringify(describeConfig(config))).not.toContain(secret)
  expect(readConfig({ ...console, ...oidc, PI_OIDC_NAME_CLAIM: 'upn' }).oidc?.nameClaim).toBe('upn')
  expect(readConfig({ ...console, ...oidc, PI_OIDC_ISSUER: 'http://127.0.0.1:9000' }).oidc).not.toBeNull()
  expect(readConfig(console).oidc).toBeNull()
})

const unusable =
  'PI_OIDC_ISSUER is not usable; expected https://<host> without query, fragment or credentials (http:// only to this machine).'

test.each([
  [
    { ...oidc, PI_CONSOLE_URL: '' },
    ['PI_OIDC_ISSUER is set; it needs PI_CONSOLE_URL, to which the provider sends people back.'],
  ],
  [{ ...oidc, PI_OIDC_CLIENT_ID: '' }, ['PI_OIDC_CLIENT_ID is not set; PI_OIDC_ISSUER needs it.']],
  [{ ...oidc, PI_OIDC_CLIENT_SECRET: '' }, ['PI_OIDC_CLIENT_SECRET is not set; PI_OIDC_ISSUER needs it.']],
  [
    { ...oidc, PI_OIDC_NAME_CLAIM: 'e mail' },
    ['PI_OIDC_NAME_CLAIM is "e mail"; expected the name of a claim, such as email or preferred_username.'],
  ],
  [{ ...oidc, PI_OIDC_ISSUER: 'http://id.example' }, [unusable]],
  [{ ...oidc, PI_OIDC_ISSUER: `https://user:${secret}@id.example` }, [unusable]],
  [{ ...oidc, PI_OIDC_ISSUER: 'https://id.example?a' }, [unusable]],
  [
    { ...oidc, PI_OIDC_ISSUER: '' },
    [
      'PI_OIDC_CLIENT_ID is set; it is only used with PI_OIDC_ISSUER.',
      'PI_OIDC_CLIENT_SECRET is set; it is only used with PI_OIDC_ISSUER.',
    ],
  ],
])('%j is rejected, without a secret in the message', (env, problems) => {
  expect(problemsOf(env)).toEqual(problems)
})
