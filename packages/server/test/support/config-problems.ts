/** Environments of tests, and what is wrong with a configuration. */
import { randomBytes } from 'node:crypto'
import { ConfigError, readConfig } from '../../src/config/read-config.js'
import type { Environment } from '../../src/config/read-variables.js'

export const masterKey = randomBytes(32).toString('hex')
export const chain = { PI_RPC_URL_1: 'http://node.example' }
export const postgres = { PI_DATABASE_URL: 'postgres://app@db.example/payments' }
export const development = { PI_ENV: 'development' }
export const oidc = {
  PI_CONSOLE_URL: 'https://pay.example',
  PI_OIDC_ISSUER: 'https://id.example/realms/shop',
  PI_OIDC_CLIENT_ID: 'pay',
  PI_OIDC_CLIENT_SECRET: 'client-secret',
}
export const sharing = {
  PI_IDENTITY_APP_TOKEN: ' app-token\n',
  PI_IDENTITY_SECRET_KEY: '\tsecret-key ',
  PI_IDENTITY_LEVEL: ' My level ',
  PI_IDENTITY_WEBHOOK_SECRETS: ' new-secret , secret-8 ',
}

/** Reads an environment beside a master key. */
export const read = (env: Environment) => readConfig({ PI_MASTER_KEY: masterKey, ...env })
/** The problems of an environment beside a master key. */
export const findProblems = (env: Environment) => problemsIn(() => read(env))

/** The problems of a configuration, empty when it can be read. */
export function problemsIn(read: () => unknown): readonly string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}
