/** Reads filters from a page's URL; the base of the console's errors. @module */
import { paymentStates } from '@payment-integration/contract'
import { parseInstant } from '@payment-integration/contract/internal-io'
import type {
  ConsolePaymentFilter,
  ConsolePosition,
  DeliveryFilter,
  IntegrationPaymentFilter,
} from '@payment-integration/core/internal'

/** Every code of this package. */
export type ConsoleErrorCode = 'ERR_CONSOLE_ACT' | 'ERR_CONSOLE_FILTER'

/** Base of the errors of this package; each message is for people. `retryable`: the same request may succeed later. */
export abstract class ConsoleError extends Error {
  abstract readonly code: ConsoleErrorCode
  abstract readonly retryable: boolean
}

/** A malformed parameter of a URL, or a malformed form or field of one. Answer 400 with the message. */
export class FilterError extends ConsoleError {
  override readonly name = 'FilterError'
  readonly code = 'ERR_CONSOLE_FILTER'
  readonly retryable = false
}

export const deliveryStatuses = ['pending', 'delivered', 'exhausted', 'superseded', 'missing'] as const

/** The fields of a filter form, by their names in the URL. */
export type QueryFields = Readonly<Record<string, string>>

/** Reads the parameters of a URL that are not empty. */
export function parseQuery(url: URL): QueryFields {
  const trimmed = [...url.searchParams].map(([name, value]) => [name, value.trim()] as const)
  return Object.fromEntries(trimmed.filter(([, value]) => value !== ''))
}

export function paymentFilter(fields: QueryFields): ConsolePaymentFilter {
  const { state, integration } = fields
  return {
    ...(state === undefined ? {} : { state: state === 'none' ? null : parseChoice('state', state, paymentStates) }),
    ...(integration === undefined
      ? {}
      : { integrationAddress: integration === 'none' ? null : parseAddress('integration', integration) }),
    ...parseSharedFilters(fields),
  }
}

/** The portal's filter of payments: a search, a wallet, and the fields that operators filter by too. */
export const integrationPaymentFilter = ({ q, wallet, ...fields }: QueryFields): IntegrationPaymentFilter => ({
  ...paymentFilter(fields),
  ...(wallet === undefined ? {} : { wallet: parseAddress('wallet', wallet) }),
  ...(q === undefined ? {} : parseSearch(q)),
})

export const isHash = (text = '') => /^0x[0-9a-f]{64}$/i.test(text)
const isAddress = (text: string) => /^0x[0-9a-f]{40}$/i.test(text)

/** Parses the text of the search box: a hash, a wallet, an invoice such as `25.00 EUR`, or the beginning of a memo. */
export function parseSearch(text: string): Pick<IntegrationPaymentFilter, 'txHash' | 'wallet' | 'invoice' | 'memo'> {
  if (isHash(text)) return { txHash: text.toLowerCase() }
  if (isAddress(text)) return { wallet: text.toLowerCase() }
  const [, amount, currency] = /^(\d{1,30}(?:\.\d{1,18})?)(?: +([A-Za-z]{3,10}))?$/.exec(text) ?? []
  if (amount !== undefined && (currency !== undefined || text.includes('.')))
    return { invoice: { amount, currency: currency?.toUpperCase() } }
  return { memo: `0x${Buffer.from(text).subarray(0, maxMemoBytes).toString('hex')}` }
}

const maxMemoBytes = 32

export function deliveryFilter(fields: QueryFields): DeliveryFilter {
  const { status, integration, hash } = fields
  return {
    ...(status === undefined ? {} : { status: parseChoice('status', status, deliveryStatuses) }),
    ...(integration === undefined ? {} : { integrationAddress: parseAddress('integration', integration) }),
    ...(hash === undefined ? {} : { txHash: parseHash(hash) }),
    ...parseSharedFilters(fields),
  }
}

export function parsePosition(text: string | undefined): ConsolePosition | undefined {
  if (text === undefined) return undefined
  const [, time, id] = /^(\d{1,15})\.(\d{1,15})$/.exec(text) ?? []
  if (id === undefined) throw new FilterError('before is not the position of a payment.')
  return { blockTimestamp: Number(time), id: String(Number(id)) }
}

export const formatPosition = ({ blockTimestamp, id }: ConsolePosition) => `${blockTimestamp}.${id}`

export function parseWholeNumber(name: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new FilterError(`${name} is not a whole number.`)
  return Number(text)
}

/** Reads a transaction hash from a URL, in lowercase. */
export function parseHash(text: string): string {
  if (!isHash(text)) throw new FilterError('The hash is not 0x and 64 hex digits.')
  return text.toLowerCase()
}

function parseAddress(name: string, text: string): string {
  if (!isAddress(text)) throw new FilterError(`The ${name} is not 0x and 40 hex digits.`)
  return text.toLowerCase()
}

function parseSharedFilters({ chain, since, until }: QueryFields) {
  return {
    ...(chain === undefined ? {} : { chainId: parseWholeNumber('chain', chain) }),
    ...(since === undefined ? {} : { since: parseTime('since', since) }),
    ...(until === undefined ? {} : { until: parseTime('until', until) }),
  }
}

/** Parses a time of a form or a link: `2026-01-31T12:30` in UTC, a date, a time with a zone, or unix milliseconds. */
export const parseAnyTime = (text: string): number | null =>
  /^\d{9,15}$/.test(text) ? Number(text) : (parseInstant(text) ?? parseInstant(`${text}Z`))

function parseTime(name: string, text: string): number {
  const time = parseAnyTime(text) ?? -1
  if (time < 0) throw new FilterError(`${name} is not a time such as 2026-01-31T12:30.`)
  return time
}

function parseChoice<Value extends string>(name: string, text: string, values: readonly Value[]): Value {
  const choice = values.find((value) => value === text)
  if (choice === undefined) throw new FilterError(`${name} is none of ${values.join(', ')}.`)
  return choice
}
