/** Options that choose an e-mail address, itself or as its keyed hash. @module */
import type { Service } from '@payment-integration/core'
import { type Identity, ShareRequestError } from '@payment-integration/core/identity'
import { UsageError } from '../../errors.js'
import type { Io } from '../../io.js'
import type { OperateOptions } from '../../with-service.js'

/** Options of the listing commands of the group. */
export interface IdentityOptions extends OperateOptions {
  /** An address in any spelling, or `-` for standard input. It is hashed and never printed or stored. */
  readonly email?: string | undefined
  /** The keyed hash of an address: 64 hex digits. */
  readonly key?: string | undefined
  /** Limit of printed entries; a last line reports when there are more. @default 50 */
  readonly limit?: number | undefined
}

/** Default of {@link IdentityOptions.limit}. */
export const defaultLimit = 50

/** Limit of standard input, in bytes: an address has up to 1024 characters. */
const inputLimit = 4_096

/**
 * The part of the service that shares identity verifications.
 * @throws UsageError `ERR_USAGE` when no identity provider is configured.
 */
export function identityOf({ identity }: Pick<Service, 'identity'>): Identity {
  if (identity !== null) return identity
  throw new UsageError(
    'Sharing identity verifications is off: no identity provider is configured. Set the PI_IDENTITY_… variables of the server also for this command.',
  )
}

/**
 * The keyed hash of the chosen address; undefined chooses all.
 * @throws UsageError `ERR_USAGE` for an invalid address or keyed hash. No message quotes it.
 */
export async function chooseKey(identity: Identity, options: IdentityOptions, io: Io): Promise<string | undefined> {
  const { email, key } = options
  if (email !== undefined) return hashed(identity, email === '-' ? await readLine(io) : email)
  if (key === undefined) return undefined
  if (!/^[0-9a-f]{64}$/i.test(key))
    throw new UsageError('--key expects a keyed hash of 64 hex digits, as identity list prints it.')
  return key.toLowerCase()
}

async function hashed(identity: Identity, email: string): Promise<string> {
  try {
    return await identity.emailKey(email)
  } catch (error) {
    if (!(error instanceof ShareRequestError)) throw error
    throw new UsageError('--email expects an e-mail address; the given text is not one.')
  }
}

async function readLine(io: Io): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of io.input()) {
    const bytes = Buffer.from(part)
    parts.push(bytes)
    length += bytes.length
    if (length > inputLimit) throw new UsageError('Standard input is longer than one e-mail address.')
  }
  return Buffer.concat(parts).toString('utf8').trim()
}
