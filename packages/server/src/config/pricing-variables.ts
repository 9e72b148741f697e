/** Reads tokens and price feeds: `PI_TOKENS_<chainId>` and `PI_PRICE_FEEDS_<chainId>`. @module */
import { currencyCodePattern } from '@payment-integration/contract'
import type { PriceFeedConfig, TokenConfig } from './config.js'
import { show, type Variables } from './variables.js'

/** Most decimals of a rate: a feed answers a 256-bit number, which has up to 78 digits. */
const maxRateDecimals = 77

const addressPattern = /^0x[0-9a-fA-F]{40}$/
// A symbol comes from the token and may be in any script. A space or invisible character in it is a mistake.
const symbolPattern = /^[^\s\p{C}]{1,32}$/u
const decimalsPattern = /^(0|[1-9][0-9]?)$/

/** Reads `0x<address>:<symbol>:<currency>`, comma-separated. */
export function readTokens(name: string, variables: Variables): readonly TokenConfig[] {
  return readEntries(name, variables, {
    expected: '0x and 40 hex digits, a symbol and a currency code, as in 0x<address>:USDC:USD',
    read(address, fields) {
      const [symbol = '', currency = ''] = fields
      const isToken = fields.length === 2 && symbolPattern.test(symbol) && currencyCodePattern.test(currency)
      return isToken ? { address, symbol, currency } : null
    },
  })
}

/** Reads `0x<address>:<base>:<quote>:<decimals>`, comma-separated. */
export function readPriceFeeds(name: string, variables: Variables): readonly PriceFeedConfig[] {
  return readEntries(name, variables, {
    expected: `0x and 40 hex digits, two currency codes and 0 to ${maxRateDecimals} decimals, as in 0x<address>:CHF:USD:8`,
    read(address, fields) {
      const [base = '', quote = '', digits = ''] = fields
      const isPair =
        fields.length === 3 && currencyCodePattern.test(base) && currencyCodePattern.test(quote) && base !== quote
      const decimals = decimalsPattern.test(digits) ? Number(digits) : Number.NaN
      return isPair && decimals <= maxRateDecimals ? { address, base, quote, decimals } : null
    },
  })
}

interface EntryRules<Entry> {
  readonly expected: string
  /** Null for invalid fields. The address is lowercased. */
  read(address: string, fields: readonly string[]): Entry | null
}

/** Every valid entry. A malformed or repeated one is a problem. */
function readEntries<Entry extends { readonly address: string }>(
  name: string,
  { text, problems }: Variables,
  { expected, read }: EntryRules<Entry>,
): readonly Entry[] {
  const seen = new Set<string>()
  return (text(name)?.split(',') ?? []).flatMap((part) => {
    const [address = '', ...fields] = part.trim().split(':')
    const entry = addressPattern.test(address) ? read(address.toLowerCase(), fields) : null
    if (entry === null) {
      problems.push(`${name} holds ${show(part)}; expected ${expected}.`)
      return []
    }
    if (seen.has(entry.address)) problems.push(`${name} names ${entry.address} twice; keep one of them.`)
    seen.add(entry.address)
    return [entry]
  })
}
