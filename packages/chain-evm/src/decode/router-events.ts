/** Decodes the events of router versions 0.1 to 0.9. @module */
import { byteLength, isLowerHex, uintAt, wordAt, wordToAddress, zeroAddress } from '../rpc/hex.js'
import { parseIntegrationSuffix } from './integrations.js'
import { parseRouterCall } from './router-call.js'
import {
  type ConversionStep,
  type DecodedConversion,
  type DecodedPayment,
  type MalformedLog,
  nativeTokenAddress,
  type RouterDecoder,
  type RouterLog,
} from './router-decoder.js'

function toMalformed(reason: string): MalformedLog {
  return { kind: 'malformed', reason }
}

const topicShape = /^0x[0-9a-f]{64}$/

/** Checks the number and form of topics and of data words; null if there is no flaw. */
function findFlaw({ topics, data }: RouterLog, topicCount: number, wordCount: number): MalformedLog | null {
  if (topics.length !== topicCount) return toMalformed(`expected ${topicCount} topics, got ${topics.length}`)
  const malformed = topics.findIndex((topic) => !topicShape.test(topic))
  if (malformed >= 0) return toMalformed(`topic ${malformed} is not 32 bytes of lowercase hex`)
  if (data.length !== 2 + wordCount * 64)
    return toMalformed(`expected ${wordCount * 32} bytes of data, got ${byteLength(data)}`)
  return isLowerHex(data) ? null : toMalformed('data is not lowercase hex')
}

/**
 * Decodes `(address indexed sender, address indexed receiver, address token, uint256 amount, uint256 fees, bytes32
 * memo)`. `amount` is gross; `fees` is the sum of all fees.
 * @param includesDeposits - Whether the router emits this event for a bridge deposit too. Such a deposit has no fees
 * and is not in the native token.
 */
function decodePayment(log: RouterLog, includesDeposits: boolean): DecodedPayment | MalformedLog {
  const { topics, data } = log
  const flaw = findFlaw(log, 3, 4)
  if (flaw !== null) return flaw
  const sender = wordToAddress(topics[1]?.slice(2) ?? null)
  const receiver = wordToAddress(topics[2]?.slice(2) ?? null)
  const token = wordToAddress(wordAt(data, 0))
  if (sender === null || receiver === null || token === null)
    return toMalformed('sender, receiver or token is wider than an address')
  const gross = uintAt(data, 32)
  const fees = uintAt(data, 64)
  if (gross === null || fees === null || fees > gross) return toMalformed('fees are larger than the amount')
  const provedBy = includesDeposits && fees === 0n && token !== nativeTokenAddress ? 'transfer' : 'event'
  const memoHex = `0x${wordAt(data, 96)}`
  return { kind: 'payment', sender, receiver, token, gross, net: gross - fees, memoHex, provedBy }
}

// Conversions multiply an amount of the invoice currency by the rate of feed 0 and divide it by the rate of feed 1;
// each feed is optional. Rates are `int256`; the router cannot convert with a rate of 0 or less.

/** Decodes `Convert(address indexed priceFeed, int256 exchangeRate)`. */
function decodeSingleConversion(log: RouterLog, use: ConversionStep['use']): DecodedConversion | MalformedLog {
  const flaw = findFlaw(log, 2, 1)
  if (flaw !== null) return flaw
  const contract = wordToAddress(log.topics[1]?.slice(2) ?? null)
  if (contract === null) return toMalformed('the price feed is wider than an address')
  if (contract === zeroAddress) return toMalformed('the event names no price feed')
  const rate = parseRateAt(log.data, 0)
  if (rate === null) return toMalformed('the exchange rate is not above 0')
  return { kind: 'conversion', steps: [{ use, contract, codeHash: null, rate }], isForgeable: false }
}

/**
 * Decodes `Convert` and `ConvertWithExternalRate` with two feeds. If feed 0 is absent, its address is zero and the
 * first rate is that of feed 1.
 * `isFrom06`: whether the router is of version 0.6 or later: a lone feed 0 multiplies, and anybody can emit the event.
 * `isExternal`: whether the first indexed argument is the hash of a currency code instead of a feed.
 */
function decodeConversion(
  log: RouterLog,
  { isFrom06, isExternal }: { readonly isFrom06: boolean; readonly isExternal: boolean },
): DecodedConversion | MalformedLog {
  const flaw = findFlaw(log, 3, 2)
  if (flaw !== null) return flaw
  const [, topic1 = '', topic2 = ''] = log.topics
  const feed0 = isExternal ? null : wordToAddress(topic1.slice(2))
  const feed1 = wordToAddress(topic2.slice(2))
  if (feed1 === null || (!isExternal && feed0 === null)) return toMalformed('a price feed is wider than an address')
  const hasFeed0 = feed0 !== zeroAddress
  const hasFeed1 = feed1 !== zeroAddress
  if (!hasFeed0 && !hasFeed1) return toMalformed('the event names no price feed')
  const rate0 = parseRateAt(log.data, 0)
  const rate1 = hasFeed0 ? parseRateAt(log.data, 32) : rate0
  if (rate0 === null || (hasFeed1 && rate1 === null)) return toMalformed('an exchange rate is not above 0')
  const steps: ConversionStep[] = []
  if (hasFeed0) {
    const use = hasFeed1 || isFrom06 ? 'multiply' : 'unknown'
    steps.push({ use, contract: feed0, codeHash: isExternal ? topic1 : null, rate: rate0 })
  }
  if (hasFeed1 && rate1 !== null) steps.push({ use: 'divide', contract: feed1, codeHash: null, rate: rate1 })
  return { kind: 'conversion', steps, isForgeable: isFrom06 }
}

/** Parses an `int256` above 0, else null. */
function parseRateAt(data: string, offset: number): bigint | null {
  const word = wordAt(data, offset)
  if (word === null || word > `7${'f'.repeat(63)}`) return null
  const rate = BigInt(`0x${word}`)
  return rate > 0n ? rate : null
}

/** First topic of the `Payment` event of versions 0.1 and 0.2. */
export const paymentTopic = '0x25f5a9cc9bfe1682a580e95d1f73b373aacdb5f8ae2009a32e67fdc4c79aac16'
/** First topic of the `Yodl` event of versions 0.3 to 0.9. */
export const yodlTopic = '0x34597715a6a440e45ac583030622c386dc1299eb0d4fc56eaa9eba541462bbcd'
/** First topic of `Convert(address indexed, int256)` of versions 0.1 and 0.2. */
const singleConvertTopic = '0x55f56a47af95f637819da860d955ff441e2d4c2a708c3608ead3781c68a63619'
/** First topic of `Convert(address indexed, address indexed, int256, int256)` of versions 0.3 to 0.9. */
const convertTopic = '0x23c9e1f4e6024ef36b16094374e2b04fc234e29ff8354c93529c23999062c9a3'
/** First topic of `ConvertWithExternalRate(string indexed, address indexed, int256, int256)` of versions 0.6 to 0.9. */
const externalConvertTopic = '0xdcc70684deca576b76b466142a51be4c8d8ce48cdae1419964c0d1c4ad40ffcf'

type Decode = (log: RouterLog) => DecodedPayment | DecodedConversion | MalformedLog
type Events = Readonly<Record<string, Decode>>

// The event of versions 0.1 and 0.2 names one feed, but not its use; in 0.1 the rate always multiplies. Versions 0.3 to
// 0.5 put a lone feed first for either use. Versions from 0.6 on have one position for each use, but their
// `emitConversionEvent` is public, so anybody can forge a conversion. From 0.8 on `yodlWithAcross` emits the payment
// event for a bridge deposit.
const events01: Events = {
  [paymentTopic]: (log) => decodePayment(log, false),
  [singleConvertTopic]: (log) => decodeSingleConversion(log, 'multiply'),
}
const events02: Events = { ...events01, [singleConvertTopic]: (log) => decodeSingleConversion(log, 'unknown') }
const events03To05: Events = {
  [yodlTopic]: (log) => decodePayment(log, false),
  [convertTopic]: (log) => decodeConversion(log, { isFrom06: false, isExternal: false }),
}
const events06And07: Events = {
  [yodlTopic]: (log) => decodePayment(log, false),
  [convertTopic]: (log) => decodeConversion(log, { isFrom06: true, isExternal: false }),
  [externalConvertTopic]: (log) => decodeConversion(log, { isFrom06: true, isExternal: true }),
}
const events08And09: Events = { ...events06And07, [yodlTopic]: (log) => decodePayment(log, true) }

const eventsByVersion: ReadonlyMap<string, Events> = new Map([
  ['0.1', events01],
  ['0.2', events02],
  ['0.3', events03To05],
  ['0.4', events03To05],
  ['0.5', events03To05],
  ['0.6', events06And07],
  ['0.7', events06And07],
  ['0.8', events08And09],
  ['0.9', events08And09],
])

/** Decodes router versions 0.1 to 0.9, and the integration address in an ERC-8021 calldata suffix. */
export const yodlDecoder: RouterDecoder = {
  paymentTopics: [paymentTopic, yodlTopic],
  conversionTopics: [singleConvertTopic, convertTopic, externalConvertTopic],
  supportsVersion: (version) => eventsByVersion.has(version),
  decode(log, version) {
    const [topic = ''] = log.topics
    const events = eventsByVersion.get(version) ?? {}
    const decode = Object.hasOwn(events, topic) ? events[topic] : undefined
    if (decode === undefined) return { kind: 'malformed', reason: `version ${version} has no event ${topic}` }
    return decode(log)
  },
  parseIntegrationAddress: parseIntegrationSuffix,
  parseCall: parseRouterCall,
}
