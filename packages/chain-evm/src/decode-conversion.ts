/**
 * The conversion events. An amount of the invoice currency is multiplied by the rate of feed 0, then divided by that of
 * feed 1; each is optional. Rates are `int256`; one that is not above 0 makes the event malformed, since the router
 * cannot have converted with it.
 * @module
 */
import { wordAt, wordToAddress } from './internal/hex.js'
import { malformed, unfit } from './internal/log-shape.js'
import type { ConversionStep, DecodedConversion, MalformedLog, RouterLog } from './router-decoder.js'

const nobody = `0x${'0'.repeat(40)}`

/** Reads `Convert(address indexed priceFeed, int256 exchangeRate)`. */
export function decodeSingleConversion(log: RouterLog, use: ConversionStep['use']): DecodedConversion | MalformedLog {
  const flaw = unfit(log, 2, 1)
  if (flaw !== null) return flaw
  const contract = wordToAddress(log.topics[1]?.slice(2) ?? null)
  if (contract === null) return malformed('the price feed is wider than an address')
  if (contract === nobody) return malformed('it names no price feed')
  const rate = rateAt(log.data, 0)
  if (rate === null) return malformed('the exchange rate is not above 0')
  return { kind: 'conversion', steps: [{ use, contract, codeHash: null, rate }], forgeable: false }
}

/** How a version emits its conversions. */
export interface ConversionForm {
  /** Whether the first topic is the hash of a currency code, and not a feed. */
  readonly external: boolean
  /** How feed 0 was used when there is no feed 1. */
  readonly alone: 'multiply' | 'unsaid'
  readonly forgeable: boolean
}

/**
 * Decodes `Convert` and `ConvertWithExternalRate` with two feeds. With feed 1 alone, feed 0 is the zero address, the
 * first rate is feed 1's and the second rate is 0.
 */
export function decodeConversion(log: RouterLog, form: ConversionForm): DecodedConversion | MalformedLog {
  const flaw = unfit(log, 3, 2)
  if (flaw !== null) return flaw
  const [, source = '', divisor = ''] = log.topics
  const feed0 = form.external ? null : wordToAddress(source.slice(2))
  const feed1 = wordToAddress(divisor.slice(2))
  if (feed1 === null || (!form.external && feed0 === null)) return malformed('a price feed is wider than an address')
  const hasFeed0 = feed0 !== nobody
  const hasFeed1 = feed1 !== nobody
  if (!hasFeed0 && !hasFeed1) return malformed('it names no price feed')
  const rate0 = rateAt(log.data, 0)
  const rate1 = hasFeed0 ? rateAt(log.data, 32) : rate0
  if (rate0 === null || (hasFeed1 && rate1 === null)) return malformed('an exchange rate is not above 0')
  const steps: ConversionStep[] = []
  if (hasFeed0) {
    const use = hasFeed1 || form.external ? 'multiply' : form.alone
    steps.push({ use, contract: feed0, codeHash: form.external ? source : null, rate: rate0 })
  }
  if (hasFeed1 && rate1 !== null) steps.push({ use: 'divide', contract: feed1, codeHash: null, rate: rate1 })
  return { kind: 'conversion', steps, forgeable: form.forgeable }
}

/** An `int256` above 0, or null. */
function rateAt(data: string, offset: number): bigint | null {
  const word = wordAt(data, offset)
  if (word === null || word > `7${'f'.repeat(63)}`) return null
  const rate = BigInt(`0x${word}`)
  return rate > 0n ? rate : null
}
