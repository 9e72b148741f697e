/** Reads the variables for sharing identity verifications. @module */
import { parseUrl } from '@payment-integration/contract'
import { checkNamespace, defaultNamespace } from '@payment-integration/core/identity'
import { leastRatePercent } from '../identity/limited-provider.js'
import type { Config, IdentityConfig } from './config.js'
import type { Variables } from './variables.js'

/** Shortest webhook secret that is accepted, in characters. */
const minSecretLength = 8

/** A process's share of the provider's rate limits. */
const rates = { min: leastRatePercent, max: 100, unit: 'a percentage' } as const

/** Names of these variables. */
export const identityVariables = [
  'PI_IDENTITY_APP_TOKEN',
  'PI_IDENTITY_SECRET_KEY',
  'PI_IDENTITY_LEVEL',
  'PI_IDENTITY_WEBHOOK_SECRETS',
  'PI_IDENTITY_URL',
  'PI_IDENTITY_REDEEM_BY',
  'PI_IDENTITY_NAMESPACE',
  'PI_IDENTITY_RATE_PERCENT',
] as const

/** Reads the `PI_IDENTITY_…` variables; null when none is set. No message repeats a value. */
export function readIdentity(variables: Variables, environment: Config['environment']): IdentityConfig | null {
  const { text, problems } = variables
  if (identityVariables.every((name) => text(name) === undefined)) return null
  const needed = (name: (typeof identityVariables)[number], what: string) => {
    const value = text(name)
    if (value === undefined || value.trim() === '')
      problems.push(`${name} is not set; sharing identity verifications needs ${what}.`)
    return value?.trim() ?? ''
  }
  const appToken = needed('PI_IDENTITY_APP_TOKEN', 'the app token at the provider')
  if (appToken !== '' && !/^[\x21-\x7e]+$/.test(appToken))
    problems.push('PI_IDENTITY_APP_TOKEN holds a space or a character that no header can carry.')
  const webhookSecrets = needed('PI_IDENTITY_WEBHOOK_SECRETS', 'the secret of the webhook that brings verdicts')
    .split(',')
    .map((secret) => secret.trim())
  if (
    (text('PI_IDENTITY_WEBHOOK_SECRETS') ?? '').trim() !== '' &&
    webhookSecrets.some(({ length }) => length < minSecretLength)
  )
    problems.push(`PI_IDENTITY_WEBHOOK_SECRETS holds a secret of less than ${minSecretLength} characters.`)
  const url = text('PI_IDENTITY_URL') ?? null
  if (url !== null && !isProviderUrl(url, environment))
    problems.push(
      'PI_IDENTITY_URL is not usable; expected https:// without query (http:// to this machine in development).',
    )
  const namespace = (text('PI_IDENTITY_NAMESPACE') ?? '').trim() || defaultNamespace
  if (!isNamespace(namespace))
    problems.push('PI_IDENTITY_NAMESPACE is not 1 to 32 letters, digits, dots, dashes or underscores.')
  return {
    appToken,
    secretKey: needed('PI_IDENTITY_SECRET_KEY', 'the secret key of the app token'),
    levelName: needed('PI_IDENTITY_LEVEL', 'the name of the verification level'),
    webhookSecrets,
    url,
    redeemBy: variables.choice('PI_IDENTITY_REDEEM_BY', ['reuse', 'import'], 'reuse'),
    namespace,
    ratePercent: variables.integer('PI_IDENTITY_RATE_PERCENT', rates, 100),
  }
}

function isNamespace(text: string): boolean {
  try {
    checkNamespace(text)
    return true
  } catch {
    return false
  }
}

function isProviderUrl(text: string, environment: Config['environment']): boolean {
  const url = parseUrl(text)
  if (url === null) return false
  const { protocol, hostname, username, password, search, hash } = url
  const isLocal = environment === 'development' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  const isScheme = protocol === 'https:' || (protocol === 'http:' && isLocal)
  return isScheme && username + password + search + hash === ''
}
