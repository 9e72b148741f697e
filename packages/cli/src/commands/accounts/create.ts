/** `payment-integration accounts create`. @module */
import { UsageError } from '../../errors.js'
import type { ExitCode, Io } from '../../io.js'
import { type OperateOptions, withService } from '../with-service.js'
import { type LinkConfigFlags, readLinkConfig } from './link-config.js'
import { accountText } from './text.js'
import { unlistedTokens } from './unlisted-tokens.js'

/** Options of {@link createAccount}. */
export interface CreateAccountOptions extends OperateOptions, LinkConfigFlags {
  /** Where payments go on every chain for which the configuration names no other address. */
  readonly address: string
}

/**
 * Creates an account under a handle and prints it. A symbol that names no token is stored, with a warning on standard error.
 * @throws UsageError `ERR_USAGE` without a configuration, or when it cannot be read; AccountError `ERR_ACCOUNT_EXISTS`,
 * `ERR_ACCOUNT_INVALID`.
 */
export async function createAccount(handle: string, options: CreateAccountOptions, io: Io): Promise<ExitCode> {
  const config = await readLinkConfig(options, io)
  if (config === undefined)
    throw new UsageError('Say what the account accepts: --accept <chainId>:<SYMBOL>, or --config <file>.')
  return withService({ ...options, mayCreate: true }, io, async ({ accounts }, report, { chains }) => {
    const account = await accounts.create({ handle, address: options.address, config })
    report({ event: 'account.created', account }, (event) => [
      `Created ${event.account.handle}.`,
      ...accountText(event.account),
    ])
    for (const warning of await unlistedTokens(account.config, chains)) io.err(warning)
  })
}
