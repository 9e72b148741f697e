/** Manages accounts and their link configurations. Source: docs/interface.md 2.4 (link configuration), 4.3. @module */
import type { LinkConfig } from '@payment-integration/contract'
import type { Audited } from '../audit/audited.js'
import { AccountError } from '../errors.js'
import { lowercaseAddress } from '../internal/address.js'
import type { AccountRecord, AccountStore } from '../ports/store-accounts.js'
import type { Clock } from '../ports/world.js'
import type { MasterKey } from '../secrets/master-key.js'
import type { AccountCommands } from '../service-types.js'
import { parseHandle } from './handle.js'
import { parseLinkConfig } from './link-config.js'
import { shownAccount } from './shown-account.js'

/** The dependencies of the commands. */
export interface AccountDeps {
  readonly accounts: Pick<AccountStore, 'find' | 'list'>
  /** Runs every change, with its audit record. */
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
}

/** Builds the commands. */
export function createAccountCommands({ accounts, audited, keys, clock }: AccountDeps): AccountCommands {
  const shown = (record: AccountRecord) => shownAccount(keys.current, record)
  return {
    async create(input) {
      const record: AccountRecord = {
        handle: readHandle(input.handle),
        address: readAddress(input.address),
        config: readConfig(input.config),
        createdAt: clock.now(),
      }
      return audited(async (tx, note) => {
        if (!(await tx.accounts.insert(record)))
          throw new AccountError(
            'ERR_ACCOUNT_EXISTS',
            `Account ${record.handle} exists already; change it, or remove it first.`,
          )
        note({ action: 'account.created', subject: record.handle, details: shown(record) })
        return record
      })
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
      const key = parseHandle(handle) ?? notFound(handle)
      return audited(async (tx, note) => {
        const before = await tx.accounts.find(key)
        const record = await tx.accounts.update(key, fields)
        if (before === null || record === null) return notFound(handle)
        const [from, to] = [shown(before), shown(record)]
        note({
          ...{ action: 'account.changed', subject: key },
          details: { paidToFrom: from.paidTo, paidToTo: to.paidTo, configFrom: from.config, configTo: to.config },
        })
        return record
      })
    },
    async remove(handle) {
      const key = parseHandle(handle) ?? notFound(handle)
      await audited(async (tx, note) => {
        const before = await tx.accounts.find(key)
        if (before === null || !(await tx.accounts.remove(key))) return notFound(handle)
        note({ action: 'account.removed', subject: key, details: shown(before) })
      })
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
