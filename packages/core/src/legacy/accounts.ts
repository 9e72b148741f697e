/** Manages accounts with their handles and link configurations. Source: docs/interface.md 2.4, 4.3. @module */
import { createHmac } from 'node:crypto'
import type { LinkConfig } from '@payment-integration/contract'
import { linkConfigWriteSchema } from '@payment-integration/contract/internal'
import { AccountError } from '../errors.js'
import type { Audited } from '../history/audit-log.js'
import { lowercaseAddress } from '../internal/values.js'
import type { Clock } from '../ports/runtime.js'
import type { MasterKey, VersionedKey } from '../secrets/keys.js'
import type { AccountRecord, AccountStore } from './legacy-store.js'

/** A new account. Addresses and handles are accepted in any case. */
export interface AccountInput {
  readonly handle: string
  readonly address: string
  readonly config: LinkConfig
}

/** Each change is in the audit log. */
export type AccountCommands = ReturnType<typeof createAccountCommands>

/**
 * Parses a handle: 1 to 63 ASCII letters, digits, dots, underscores and hyphens. Null: another text, or one in the form
 * of an address. Only ASCII is lowercased: some other letters lowercase into ASCII.
 */
export function parseHandle(text: string): string | null {
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(text)) return null
  const handle = text.toLowerCase()
  return lowercaseAddress(handle) === null ? handle : null
}

/**
 * Parses a link configuration strictly: no unknown field, within limits, addresses lowercased.
 * @throws AccountError `ERR_ACCOUNT_INVALID` with the wrong field and its flaw, without the value.
 */
export function parseLinkConfig(input: unknown): LinkConfig {
  const parsed = linkConfigWriteSchema.safeParse(input)
  if (parsed.success) return copyLinkConfig(parsed.data)
  const [issue] = parsed.error.issues
  const fieldPath = ['config', ...(issue?.path ?? [])].join('.')
  switch (issue?.code) {
    case 'unrecognized_keys':
      return throwInvalid(`${fieldPath} has ${issue.keys.length} field(s) that a link configuration does not have`)
    case 'invalid_union':
      return throwInvalid(`${fieldPath}: expected NOTHING, REDIRECT or CLOSE_WINDOW`)
    case 'invalid_type':
      return throwInvalid(`${fieldPath}: expected ${issue.expected}`)
    default:
      return throwInvalid(`${fieldPath}: ${issue?.message ?? 'is invalid'}`)
  }
}

function copyLinkConfig({ coins, onCompleteAction }: LinkConfig): LinkConfig {
  return {
    coins: coins.map(({ chainId, defaultAddress, tokens }) => ({
      chainId,
      defaultAddress: defaultAddress?.toLowerCase(),
      tokens: tokens.map(({ symbol, address }) => ({ symbol, address: address?.toLowerCase() })),
    })),
    onCompleteAction,
  }
}

/**
 * Describes an account for the audit log: the addresses that are paid, and a keyed fingerprint of the configuration.
 * The configuration itself may have thousands of tokens, and a URL with a secret.
 */
function describeAccount(key: VersionedKey, { address, config }: Pick<AccountRecord, 'address' | 'config'>) {
  const otherAddresses = config.coins.flatMap(({ chainId, defaultAddress }) =>
    defaultAddress === undefined ? [] : [`${chainId}: ${defaultAddress}`],
  )
  // The key of URLs can serve here, too: no URL is a JSON object.
  const digest = createHmac('sha256', key.derive('audit-url')).update(JSON.stringify(config), 'utf8').digest('hex')
  // 12 hex digits are enough to distinguish the configurations of one account.
  return { paidTo: [address, ...otherAddresses].join(', '), config: digest.slice(0, 12) }
}

const handleFlaw =
  'handle: expected 1 to 63 letters a to z, digits, dots, underscores and hyphens, ' +
  'beginning and ending with a letter or digit, and not in the shape of an address'

interface AccountDeps {
  readonly accounts: Pick<AccountStore, 'find' | 'list'>
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
}

export function createAccountCommands({ accounts, audited, keys, clock }: AccountDeps) {
  const describe = (record: AccountRecord) => describeAccount(keys.current, record)
  return {
    /** @throws AccountError `ERR_ACCOUNT_EXISTS`, `ERR_ACCOUNT_INVALID` (names field and flaw). */
    async create(input: AccountInput) {
      const record: AccountRecord = {
        handle: parseHandle(input.handle) ?? throwInvalid(handleFlaw),
        address: checkAddress(input.address),
        config: parseLinkConfig(input.config),
        createdAt: clock.now(),
      }
      return audited(async (tx, note) => {
        if (!(await tx.accounts.insert(record)))
          throw new AccountError(
            'ERR_ACCOUNT_EXISTS',
            `Account ${record.handle} exists already; change it, or remove it first.`,
          )
        note({ action: 'account.created', subject: record.handle, details: describe(record) })
        return record
      })
    },
    list: () => accounts.list(),
    /** @throws AccountError `ERR_ACCOUNT_NOT_FOUND`. */
    async get(handle: string) {
      const key = parseHandle(handle)
      return (key === null ? null : await accounts.find(key)) ?? throwNotFound(handle)
    },
    /** Replaces the given fields. @throws AccountError `ERR_ACCOUNT_NOT_FOUND`, `ERR_ACCOUNT_INVALID`. */
    async change(handle: string, { address, config }: Partial<Omit<AccountInput, 'handle'>>) {
      const fields = {
        ...(address === undefined ? {} : { address: checkAddress(address) }),
        ...(config === undefined ? {} : { config: parseLinkConfig(config) }),
      }
      const key = parseHandle(handle) ?? throwNotFound(handle)
      return audited(async (tx, note) => {
        const before = await tx.accounts.find(key)
        const record = await tx.accounts.update(key, fields)
        if (before === null || record === null) return throwNotFound(handle)
        const [from, to] = [describe(before), describe(record)]
        const details = { paidToFrom: from.paidTo, paidToTo: to.paidTo, configFrom: from.config, configTo: to.config }
        note({ action: 'account.changed', subject: key, details })
        return record
      })
    },
    /** @throws AccountError `ERR_ACCOUNT_NOT_FOUND`. */
    async remove(handle: string) {
      const key = parseHandle(handle) ?? throwNotFound(handle)
      await audited(async (tx, note) => {
        const before = await tx.accounts.find(key)
        if (before === null || !(await tx.accounts.remove(key))) return throwNotFound(handle)
        note({ action: 'account.removed', subject: key, details: describe(before) })
      })
    },
  }
}

function throwNotFound(handle: string): never {
  throw new AccountError('ERR_ACCOUNT_NOT_FOUND', `There is no account ${JSON.stringify(handle)}.`)
}

function throwInvalid(message: string): never {
  throw new AccountError('ERR_ACCOUNT_INVALID', message)
}

function checkAddress(text: string): string {
  return lowercaseAddress(text) ?? throwInvalid('address: expected 0x and 40 hex digits')
}
