/** Manages accounts and their link configurations. Source: docs/interface.md 2.4 (link configuration), 4.3. @module */
import type { LinkConfig } from '@payment-integration/contract'
import { AccountError } from '../errors.js'
import { lowercaseAddress } from '../internal/address.js'
import type { AccountRecord, AccountStore } from '../ports/store-accounts.js'
import type { Clock } from '../ports/world.js'
import type { AccountCommands } from '../service-types.js'
import { parseHandle } from './handle.js'
import { parseLinkConfig } from './link-config.js'

/** What the commands need. */
export interface AccountDeps {
  readonly accounts: AccountStore
  readonly clock: Pick<Clock, 'now'>
}

/** Builds the commands. */
export function createAccountCommands({ accounts, clock }: AccountDeps): AccountCommands {
  return {
    async create(input) {
      const record: AccountRecord = {
        handle: readHandle(input.handle),
        address: readAddress(input.address),
        config: readConfig(input.config),
        createdAt: clock.now(),
      }
      if (await accounts.insert(record)) return record
      throw new AccountError(
        'ERR_ACCOUNT_EXISTS',
        `Account ${record.handle} exists already; change it, or remove it first.`,
      )
    },
    list: () => accounts.list(),
    async get(handle) {
      const key = parseHandle(handle)
      return (key === null ? null : await accounts.find(key)) ?? notFound(handle)
    },
    async change(handle, { address, config }) {
      const fields = {
        ...(address === undefined ? {} : { address: readAddress(address) }),
        ...(config === undefined ? {} : { config: readConfig(config) }),
      }
      const key = parseHandle(handle)
      return (key === null ? null : await accounts.update(key, fields)) ?? notFound(handle)
    },
    async remove(handle) {
      const key = parseHandle(handle)
      if (key === null || !(await accounts.remove(key))) notFound(handle)
    },
  }
}

function notFound(handle: string): never {
  throw new AccountError('ERR_ACCOUNT_NOT_FOUND', `There is no account ${JSON.stringify(handle)}.`)
}

function invalid(message: string): never {
  throw new AccountError('ERR_ACCOUNT_INVALID', message)
}

function readHandle(text: string): string {
  return (
    parseHandle(text) ??
    invalid(
      'handle: expected 1 to 63 letters a to z, digits, dots, underscores and hyphens, ' +
        'beginning and ending with a letter or digit, and not in the shape of an address',
    )
  )
}

function readAddress(text: string): string {
  return lowercaseAddress(text) ?? invalid('address: expected 0x and 40 hex digits')
}

function readConfig(input: LinkConfig): LinkConfig {
  const result = parseLinkConfig(input)
  return 'config' in result ? result.config : invalid(result.problem)
}
