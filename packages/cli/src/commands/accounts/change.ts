/** `payment-integration accounts change`. @module */
import { UsageError } from '../../errors.js'
import type { ExitCode, Io } from '../../io.js'
import { type OperateOptions, withService } from '../with-service.js'
import { type LinkConfigFlags, readLinkConfig } from './link-config.js'
import { accountText } from './text.js'
import { unlistedTokens } from './unlisted-tokens.js'

/** Options of {@link changeAccount}. */
export interface ChangeAccountOptions extends OperateOptions, LinkConfigFlags {
  /** @default as it is */
  readonly address?: string | undefined
}

/**
 * Replaces an account's address, its configuration as a whole, or both, and prints it. What no flag names stays as it is.
 * A symbol in a new configuration that names no token is stored, with a warning on standard error.
 * @throws UsageError `ERR_USAGE` without a change, or when the configuration cannot be read; AccountError
 * `ERR_ACCOUNT_NOT_FOUND`, `ERR_ACCOUNT_INVALID`.
 */
export async function changeAccount(handle: string, options: ChangeAccountOptions, io: Io): Promise<ExitCode> {
  const { address } = options
  const config = await readLinkConfig(options, io)
  if (address === undefined && config === undefined)
    throw new UsageError('Say what changes: --address, --accept or --config.')
  const change = { ...(address !== undefined && { address }), ...(config !== undefined && { config }) }
  return withService(options, io, async ({ accounts }, report, { chains }) => {
    const account = await accounts.change(handle, change)
    report({ event: 'account.changed', account }, (event) => [
      `Changed ${event.account.handle}.`,
      ...accountText(event.account),
    ])
    if (config === undefined) return
    for (const warning of await unlistedTokens(account.config, chains)) io.err(warning)
  })
}
