/** Reads the secret and the integration for the doctor, from options, the environment and a file. @module */
import { UsageError } from '../../errors.js'
import { readIntegratorVariables } from '../../integrator.js'
import type { Io } from '../../io.js'
import { parseAddress } from '../../parse.js'
import { readSmallFile, type Variables, variableName } from '../../variables.js'

/** Options that name where credentials are. No option takes a secret. */
export interface CredentialFlags {
  /** Lowercased. */
  readonly integration?: string | undefined
  readonly secretEnv?: string | undefined
  readonly secretFile?: string | undefined
  readonly envFile?: string | undefined
}

/** The secrets and the address of the deliveries. */
export interface DoctorCredentials {
  readonly signingSecret: string
  /** 0x and 40 lowercase hex digits. */
  readonly integrationAddress: string
  /** To recognise a receiver that verifies with it. */
  readonly apiSecret?: string | undefined
}

/** The names that the examples use; the plural holds several secrets, the newest first. */
const secretNames = ['WEBHOOK_SIGNING_SECRET', 'WEBHOOK_SIGNING_SECRETS']

/**
 * Reads the credentials. Options come first, then the environment, then the file.
 * @throws UsageError `ERR_USAGE` When one is missing or a file is unreadable. It quotes no value.
 */
export async function readCredentials(flags: CredentialFlags, env: Io['env']): Promise<DoctorCredentials> {
  const { integration, secretEnv, secretFile, envFile } = flags
  if (secretEnv !== undefined && secretFile !== undefined)
    throw new UsageError('--secret-env and --secret-file exclude each other; omit one of them.')
  const variables = await readIntegratorVariables(envFile, { env })
  const names = secretEnv === undefined ? secretNames : [variableName(secretEnv)]
  const signingSecret = secretFile === undefined ? secretIn(variables, names) : await readSecretFile(secretFile)
  return {
    signingSecret,
    integrationAddress: integration ?? addressIn(variables),
    apiSecret: variables['API_SECRET'],
  }
}

function secretIn(variables: Variables, names: readonly string[]): string {
  for (const name of names) {
    const [newest] = (variables[name] ?? '').split(',')
    if (newest !== undefined && newest.trim() !== '') return newest.trim()
  }
  throw new UsageError(
    `Set ${names[0]} to the webhook signing secret, in the environment or in the file of --env-file; or pass --secret-file.`,
  )
}

function addressIn(variables: Variables): string {
  const text = variables['INTEGRATION_ADDRESS']
  if (text === undefined)
    throw new UsageError('Pass --integration with the address of the integration, or set INTEGRATION_ADDRESS.')
  try {
    return parseAddress(text)
  } catch {
    throw new UsageError('INTEGRATION_ADDRESS is no address; set it to 0x and 40 hex digits.')
  }
}

/** The secret in a file, without the line break at its end. */
async function readSecretFile(path: string): Promise<string> {
  const text = await readSmallFile(path, '--secret-file')
  const secret = text.replace(/\r?\n$/, '')
  if (secret === '')
    throw new UsageError('The file of --secret-file is empty; it must hold the webhook signing secret.')
  return secret
}
