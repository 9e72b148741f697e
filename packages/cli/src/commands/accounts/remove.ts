/** `payment-integration accounts remove`. @module */
import type { ExitCode, Io } from '../../io.js'
import { type OperateOptions, withService } from '../with-service.js'
import { accountText } from './text.js'

/**
 * Removes an account, and prints it as it was, so that a mistake can be undone: its handle resolves to nothing from then on.
 * @throws AccountError `ERR_ACCOUNT_NOT_FOUND`.
 */
export function removeAccount(handle: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ accounts }, report) => {
    const account = await accounts.get(handle)
    await accounts.remove(handle)
    report({ event: 'account.removed', account }, (event) => [
      `Removed ${event.account.handle}. It was:`,
      ...accountText(event.account),
    ])
  })
}
