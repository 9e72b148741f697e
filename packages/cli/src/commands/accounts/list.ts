/** `payment-integration accounts list` and `show`. @module */
import type { ExitCode, Io } from '../../io.js'
import { type OperateOptions, withService } from '../with-service.js'
import { accountLine, accountText } from './text.js'

/** Prints every account, by handle. With `json`, one object each and nothing when there is none. */
export function listAccounts(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ accounts }, report) => {
    const all = await accounts.list()
    if (all.length === 0 && !options.json) io.out('There is no account yet. Create one with accounts create.')
    for (const account of all) report({ event: 'account', account }, (event) => [accountLine(event.account)])
  })
}

/**
 * Prints one account.
 * @throws AccountError `ERR_ACCOUNT_NOT_FOUND`.
 */
export function showAccount(handle: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ accounts }, report) => {
    const account = await accounts.get(handle)
    report({ event: 'account', account }, (event) => [event.account.handle, ...accountText(event.account)])
  })
}
