/** Parsers of the texts that configuration variables hold. @module */
import { isIP } from 'node:net'
import type { KnownPriceFeed, KnownRouter, KnownToken } from '@payment-integration/chain-evm'
import { currencyCodePattern } from '@payment-integration/contract'
import { parseUrl } from '@payment-integration/contract/internal'
import { findDatabaseUrlProblem } from '@payment-integration/contract/internal-io'
import { parseMasterKey } from '@payment-integration/core'
import { checkNamespace, defaultNamespace } from '@payment-integration/core/internal'
import { findRangeProblem } from '../internal/address-ranges.js'
import { Flaw, type Parse, parseInteger, quoteText } from './kinds.js'

const createPatternParser =
  (pattern: RegExp): Parse<string> =>
  (text) =>
    pattern.test(text) ? text : new Flaw()

const createUrlParser =
  (accepts: (url: URL, text: string) => boolean): Parse<string> =>
  (text) => {
    const parsed = parseUrl(text)
    return parsed !== null && accepts(parsed, text) ? text : new Flaw()
  }

// Whether `https:` carries requests to a URL, or `http:` within this machine.
function isSecure({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname))
}

export const parseText = (text: string) => text
export const parseHost = createPatternParser(/^[0-9A-Za-z.:-]{1,253}$/)
export const parseEngine = createPatternParser(/^[a-z][a-z0-9]{0,31}$/)
export const parseClaim = createPatternParser(/^[\x21-\x7e]{1,128}$/)
export const parseRole = createPatternParser(/^(api|console|dispatcher|poller|indexer(:[1-9]\d{0,14})?)$/)
export const parseActor = createPatternParser(/^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]{0,98}[^\p{C}\p{Z}])?$/u)

/** Whether a URL has neither credentials nor query nor fragment. */
const hasNoExtras = ({ username, password, search, hash }: URL) => username + password + search + hash === ''

// `https://x?` has an empty `search`, so the text is checked too.
export const parseIssuer = createUrlParser(
  (issuer, text) => isSecure(issuer) && hasNoExtras(issuer) && !/[?#]/.test(text),
)
export const parseProviderUrl = createUrlParser((base) => isSecure(base) && hasNoExtras(base))
export const parseReceiptsUrl = createUrlParser(
  ({ protocol, search, hash }) => /^https?:$/.test(protocol) && search + hash === '',
)
export const parseFeedServer = createUrlParser((server) => {
  const { protocol, hostname, pathname } = server
  return /^(nats|tls):$/.test(protocol) && hostname !== '' && pathname.length <= 1 && hasNoExtras(server)
})
/** The address of a node. A `#` in a password would end the host early. */
export const createNodeUrlParser = (...schemes: readonly string[]) =>
  createUrlParser(({ protocol, host, hash }) => schemes.includes(protocol) && host !== '' && hash === '')

/** The origin of pages that people sign in to. */
export function parseOrigin(text: string): string | Flaw {
  const parsed = parseUrl(text)
  return parsed !== null && isSecure(parsed) && parsed.href === `${parsed.origin}/` ? parsed.origin : new Flaw()
}

/** The address of a PostgreSQL database. It may hold a password, so a flaw quotes only the scheme. */
export function parsePostgresUrl(text: string): string | Flaw {
  const problem = findDatabaseUrlProblem(text)
  if (problem !== null) return new Flaw(problem.replace(/\.$/, ''))
  if (/^postgres(ql)?:\/\/./.test(text) && parseUrl(text) !== null) return text
  return new Flaw(`has ${/^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0] ?? 'no scheme'}`)
}

/** The address of a PostgreSQL database, or `sqlite:` and the path of a file. */
export function parseDatabaseUrl(text: string): string | Flaw {
  if (!text.startsWith('sqlite:')) return parsePostgresUrl(text)
  const path = text.slice('sqlite:'.length)
  if (path.trim() === '' || path === ':memory:' || /^file:/i.test(path))
    return new Flaw(`is ${quoteText(text)}, which names no file on a disk`)
  // A typing mistake, or a special SQLite name with options: neither names a database file.
  if (path.trimStart().startsWith(':')) return new Flaw(`is ${quoteText(text)}, whose path begins with a colon`)
  return text
}

export function parseCertificates(text: string): string | Flaw {
  return text.includes('-----BEGIN CERTIFICATE-----') ? text : new Flaw('names a file without a certificate')
}

export function parseMasterKeys(text: string): string | Flaw {
  try {
    parseMasterKey(text)
    return text
  } catch (error) {
    return new Flaw(error instanceof RangeError ? `is rejected: ${error.message.replace(/\.$/, '')}` : '')
  }
}

/** A secret of at least `min` characters. */
export const createSecretParser =
  (min: number): Parse<string> =>
  (text) =>
    text.length < min ? new Flaw(`has ${text.length} characters`) : text

export function parseHeaderToken(text: string): string | Flaw {
  return /^[\x21-\x7e]+$/.test(text) ? text : new Flaw('holds a space or a character that no header can carry')
}

export const parseAppToken = (text: string) => parseHeaderToken(text.trim())

export function parseMetricsToken(text: string): string | Flaw {
  return text.length < 16 || text.length > 512 ? new Flaw(`has ${text.length} characters`) : parseHeaderToken(text)
}

/** The text without surrounding white space; blank text is a flaw. */
export function parseTrimmed(text: string): string | Flaw {
  return text.trim() === '' ? new Flaw('is blank') : text.trim()
}

/** The prefix of external user ids at the identity provider; blank: the default. */
export function parseNamespace(text: string): string | Flaw {
  try {
    return checkNamespace(text.trim() || defaultNamespace)
  } catch {
    return new Flaw()
  }
}

export function parseRange(text: string): string | Flaw {
  const problem = findRangeProblem(text)
  return problem === null ? text : new Flaw(problem)
}

/** A name server as `<address>:<port>`, IPv6 in brackets. */
export function parseNameServer(text: string): string | Flaw {
  const [, v6, v4, port = '53'] = /^(?:\[([^[\]]+)\]|([0-9.]+))(?::([1-9][0-9]{0,4}))?$/.exec(text) ?? []
  const isIPv6 = (address: string) => isIP(address) === 6 && !address.includes('%')
  if (isIPv6(text)) return `[${text}]:53`
  if (Number(port) > 65_535) return new Flaw()
  if (v6 !== undefined) return isIPv6(v6) ? `[${v6}]:${port}` : new Flaw()
  return v4 !== undefined && isIP(v4) === 4 ? `${v4}:${port}` : new Flaw()
}

/** Parses days, such as `30d`, to milliseconds; `keep`, for ever, gives null. */
export function parseDays(text: string): number | null | Flaw {
  const days = /^([1-9][0-9]{0,3})d$/.exec(text)?.[1]
  if (days === undefined) return text === 'keep' ? null : new Flaw()
  return Number(days) * 86_400_000
}

export const parseChainId = (text: string) => parseInteger(text, 1, 999_999_999_999_999)

export function parseAddress(text: string): string | Flaw {
  return /^0x[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : new Flaw()
}

export function parseRouter(text: string): KnownRouter | Flaw {
  const [, address, version] = /^(0x[0-9a-fA-F]{40})@([0-9]+\.[0-9]+)$/.exec(text) ?? []
  return address === undefined || version === undefined ? new Flaw() : { address: address.toLowerCase(), version }
}

/** A symbol comes from the token and may be in any script. White space or an invisible character is a mistake. */
export function parseToken(text: string): KnownToken | Flaw {
  const [addressText = '', symbol = '', currency = '', ...rest] = text.split(':')
  const address = parseAddress(addressText)
  const isToken = /^[^\s\p{C}]{1,32}$/u.test(symbol) && currencyCodePattern.test(currency) && rest.length === 0
  return isToken && typeof address === 'string' ? { address, symbol, currency } : new Flaw()
}

/** A feed answers a 256-bit number, which has up to 78 digits. */
export function parsePriceFeed(text: string): KnownPriceFeed | Flaw {
  const [addressText = '', base = '', quote = '', digits = '', ...rest] = text.split(':')
  const [address, decimals] = [parseAddress(addressText), parseInteger(digits, 0, 77)]
  const isPair = currencyCodePattern.test(base) && currencyCodePattern.test(quote) && base !== quote
  if (!isPair || rest.length > 0 || typeof address !== 'string' || typeof decimals !== 'number') return new Flaw()
  return { address, base, quote, decimals }
}

export function parseStartBlock(text: string): number | 'head' | Flaw {
  return text === 'head' ? text : parseInteger(text, 0, Number.MAX_SAFE_INTEGER)
}

/** A price with at most 6 decimals. */
export function parsePrice(text: string): number | Flaw {
  return /^[0-9]{1,7}(\.[0-9]{1,6})?$/.test(text) ? Number(text) : new Flaw()
}
