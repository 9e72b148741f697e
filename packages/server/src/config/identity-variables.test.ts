import { randomBytes } from 'node:crypto'
import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { describe, expect, it, onTestFinished } from 'vitest'
import { problemsIn } from '../../test/support/config-problems.js'
import { basic } from '../../test/support/integration-service.js'
import { tempConfig } from '../../test/support/temp-config.js'
import { verdictPath } from '../app/verdict-route.js'
import { startServer } from '../run/start-server.js'
import { describeConfig } from './describe-config.js'
import { identityVariables } from './identity-variables.js'
import { readConfig } from './read-config.js'

const PI_MASTER_KEY = randomBytes(32).toString('hex')
const needed = {
  PI_IDENTITY_APP_TOKEN: 'sbx:app-token',
  PI_IDENTITY_SECRET_KEY: 'secret-key',
  PI_IDENTITY_LEVEL: 'basic-kyc-level',
  PI_IDENTITY_WEBHOOK_SECRETS: 'secret-8',
}
const read = (env: Record<string, string>) => readConfig({ PI_MASTER_KEY, ...env })

const problemsOf = (env: Record<string, string>) => problemsIn(() => read(env))

describe('sharing', () => {
  it('is off without any of the variables, also when they are empty', () => {
    const nothing = Object.fromEntries(identityVariables.map((name) => [name, '']))
    for (const env of [{}, nothing]) {
      expect(read(env).identity).toBeNull()
      expect(describeConfig(read(env)).identity).toBe('off')
    }
  })

  it('needs four of them: URL and endpoint default to the current ones of the provider', () => {
    expect(read(needed).identity).toEqual({
      appToken: 'sbx:app-token',
      secretKey: 'secret-key',
      levelName: 'basic-kyc-level',
      webhookSecrets: ['secret-8'],
      url: null,
      redeemBy: 'reuse',
      namespace: 'pi',
      ratePercent: 100,
    })
  })

  it('reads all of them, trimmed', () => {
    const config = read({
      PI_IDENTITY_APP_TOKEN: ' app-token\n',
      PI_IDENTITY_SECRET_KEY: '\tsecret-key ',
      PI_IDENTITY_LEVEL: ' My level ',
      PI_IDENTITY_WEBHOOK_SECRETS: ' new-secret , old-secret ',
      PI_IDENTITY_URL: 'https://provider.example:8443/v1',
      PI_IDENTITY_REDEEM_BY: 'import',
      PI_IDENTITY_NAMESPACE: ' shop.staging_2 ',
      PI_IDENTITY_RATE_PERCENT: '25',
    })
    expect(config.identity).toEqual({
      appToken: 'app-token',
      secretKey: 'secret-key',
      levelName: 'My level',
      webhookSecrets: ['new-secret', 'old-secret'],
      url: 'https://provider.example:8443/v1',
      redeemBy: 'import',
      namespace: 'shop.staging_2',
      ratePercent: 25,
    })
  })
})

describe('a problem', () => {
  it.each([
    ['PI_IDENTITY_APP_TOKEN', 'the app token at the provider'],
    ['PI_IDENTITY_SECRET_KEY', 'the secret key of the app token'],
    ['PI_IDENTITY_LEVEL', 'the name of the verification level'],
    ['PI_IDENTITY_WEBHOOK_SECRETS', 'the secret of the webhook that brings verdicts'],
  ])('is %s that is not set or blank, while others of them are set', (name, what) => {
    const problem = `${name} is not set; sharing identity verifications needs ${what}.`
    expect(problemsOf({ ...needed, [name]: '' })).toEqual([problem])
    expect(problemsOf({ ...needed, [name]: ' \t' })).toContain(problem)
  })

  it.each(['short-7', 'long-enough,short-7', 'long-enough,', ',long-enough', 'long-enough,,long-enough', '       x'])(
    'is the webhook secret %j: one of them is too short',
    (secrets) => {
      expect(problemsOf({ ...needed, PI_IDENTITY_WEBHOOK_SECRETS: secrets })).toEqual([
        'PI_IDENTITY_WEBHOOK_SECRETS holds a secret of less than 8 characters.',
      ])
    },
  )

  it.each(['provider.example', 'https://', 'ftp://provider.example', 'https://u@provider.example'])(
    'is the address %j, in every environment',
    (url) => {
      for (const PI_ENV of ['production', 'development'])
        expect(problemsOf({ ...needed, PI_ENV, PI_IDENTITY_URL: url })).toEqual([
          'PI_IDENTITY_URL is not usable; expected https:// without query (http:// to this machine in development).',
        ])
    },
  )

  it.each(['http://127.0.0.1:4749', 'http://[::1]:4749', 'http://localhost:4749'])(
    'is the local address %j, except in development',
    (url) => {
      expect(problemsOf({ ...needed, PI_IDENTITY_URL: url })).toHaveLength(1)
      expect(read({ ...needed, PI_ENV: 'development', PI_IDENTITY_URL: url }).identity?.url).toBe(url)
    },
  )

  it.each(['copy', 'Reuse', 'reuse,import', ' reuse'])('is the way to redeem %j', (value) => {
    expect(problemsOf({ ...needed, PI_IDENTITY_REDEEM_BY: value })).toEqual([
      `PI_IDENTITY_REDEEM_BY is ${JSON.stringify(value)}; expected one of reuse, import.`,
    ])
  })

  it.each(['a b', 'a:b', 'ü', 'x'.repeat(33)])('is the name space %j', (value) => {
    expect(problemsOf({ ...needed, PI_IDENTITY_NAMESPACE: value })).toEqual([
      'PI_IDENTITY_NAMESPACE is not 1 to 32 letters, digits, dots, dashes or underscores.',
    ])
  })

  it.each(['2', '101', '0', '33.3', '25%', ' 25'])('is the share of the rates %j', (value) => {
    expect(problemsOf({ ...needed, PI_IDENTITY_RATE_PERCENT: value })).toEqual([
      `PI_IDENTITY_RATE_PERCENT is ${JSON.stringify(value)}; expected a percentage from 3 to 100, in plain digits.`,
    ])
  })

  it('repeats no value that may be secret', () => {
    const problems = problemsOf({
      PI_IDENTITY_APP_TOKEN: 'CANARY',
      PI_IDENTITY_SECRET_KEY: 'CANARY',
      PI_IDENTITY_WEBHOOK_SECRETS: 'CANARY,CANARY',
      PI_IDENTITY_URL: 'https://user:CANARY@provider.example/?CANARY',
    })
    expect(problems).toHaveLength(3)
    expect(problems.join('\n')).not.toContain('CANARY')
  })
})

it('the description names the level, the endpoint and the host of the provider, and no secret', () => {
  const secrets = {
    PI_IDENTITY_APP_TOKEN: 'CANARY',
    PI_IDENTITY_SECRET_KEY: 'CANARY',
    PI_IDENTITY_WEBHOOK_SECRETS: 'CANARY-8',
  }
  const share = { PI_IDENTITY_RATE_PERCENT: '25' }
  const url = { PI_IDENTITY_URL: 'https://provider.example:8443/CANARY', PI_IDENTITY_REDEEM_BY: 'import', ...share }
  const descriptions = [{}, url].map((env) => describeConfig(read({ ...needed, ...secrets, ...env })))
  expect(descriptions.map(({ identity }) => identity)).toEqual([
    'level basic-kyc-level by reuse',
    'level basic-kyc-level by import at https://provider.example:8443 with 25 % of its rates',
  ])
  expect(JSON.stringify(descriptions)).not.toContain('CANARY')
})

it.each([
  ['reuse', 'pending'],
  ['import', 'init'],
] as const)('a server that is started with them redeems by %s and hears verdicts', async (redeemBy, begun) => {
  const shop = { clientId: 'Shop', appToken: 'sbx:shop', secretKey: 'secret-of-the-shop', partners: ['Service'] }
  const { PI_IDENTITY_APP_TOKEN: appToken, PI_IDENTITY_SECRET_KEY: secretKey } = needed
  const service = { clientId: 'Service', appToken, secretKey, partners: ['Shop'] }
  const provider = await startIdentityProvider({ clients: [shop, service] })
  onTestFinished(() => provider.close())
  const variables = { PI_IDENTITY_URL: provider.url, PI_IDENTITY_REDEEM_BY: redeemBy }
  const made = await tempConfig({ ...needed, PI_IDENTITY_WEBHOOK_SECRETS: 'new-secret,old-secret', ...variables })
  onTestFinished(made.remove)
  const server = await startServer(made.config)
  onTestFinished(() => server.stop())
  const address = `0x${'ab'.repeat(20)}`
  const { apiSecret } = await server.service.integrations.create({ address })
  const share = async () => {
    const { id: applicantId } = provider.addApplicant({ clientId: 'Shop' })
    const kycShareToken = provider.mintShareToken({ applicantId, forClientId: 'Service' })
    const response = await fetch(`${server.url}/api/v1/integration/idv-share-token`, {
      method: 'POST',
      headers: { authorization: basic(address, apiSecret), 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'user@shop.example', kycShareToken }),
    })
    return response.json()
  }

  expect(await share()).toMatchObject({ reviewStatus: begun, reused: true })
  provider.setWebhooks('Service', [{ url: `${server.url}${verdictPath}`, secretKey: 'old-secret' }])
  provider.approve(provider.redemptions[0]?.applicantId ?? '')
  expect((await provider.deliverWebhooks()).map(({ status }) => status)).toEqual([200])
  expect(await share()).toMatchObject({ reviewStatus: 'completed', reviewAnswer: 'GREEN', reused: false })
  const redeeming = provider.requests.map(({ operation }) => operation)
  expect(redeeming).toEqual([redeemBy])
})
