/**
 * Decodes the events of router versions 0.1 to 0.9 by hand. An ABI library spends most of its time on address
 * checksums.
 * @module
 */
import { decodeConversion, decodeSingleConversion } from './decode-conversion.js'
import { decodePayment } from './decode-payment.js'
import { readIntegrationSuffix } from './integration-suffix.js'
import { readRouterCall } from './router-call.js'
import type { DecodedConversion, DecodedPayment, MalformedLog, RouterDecoder, RouterLog } from './router-decoder.js'

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

/**
 * Versions 0.1 and 0.2 name one feed but not its use; 0.1 only multiplies. Versions 0.3 to 0.5 name a lone feed first;
 * 0.6 and later name it in its position. From 0.6 on `emitConversionEvent` is public. From 0.8 on `yodlWithAcross`
 * emits the payment event for a bridge deposit.
 */
const first: Events = {
  [paymentTopic]: (log) => decodePayment(log, false),
  [singleConvertTopic]: (log) => decodeSingleConversion(log, 'multiply'),
}
const second: Events = {
  [paymentTopic]: (log) => decodePayment(log, false),
  [singleConvertTopic]: (log) => decodeSingleConversion(log, 'unsaid'),
}
const middle: Events = {
  [yodlTopic]: (log) => decodePayment(log, false),
  [convertTopic]: (log) => decodeConversion(log, { external: false, alone: 'unsaid', forgeable: false }),
}
const late: Events = {
  [yodlTopic]: (log) => decodePayment(log, false),
  [convertTopic]: (log) => decodeConversion(log, { external: false, alone: 'multiply', forgeable: true }),
  [externalConvertTopic]: (log) => decodeConversion(log, { external: true, alone: 'multiply', forgeable: true }),
}
const latest: Events = { ...late, [yodlTopic]: (log) => decodePayment(log, true) }

const events: ReadonlyMap<string, Events> = new Map([
  ['0.1', first],
  ['0.2', second],
  ['0.3', middle],
  ['0.4', middle],
  ['0.5', middle],
  ['0.6', late],
  ['0.7', late],
  ['0.8', latest],
  ['0.9', latest],
])

/** Reads router versions 0.1 to 0.9, and the integration address from an ERC-8021 calldata suffix. */
export const yodlDecoder: RouterDecoder = {
  paymentTopics: [paymentTopic, yodlTopic],
  conversionTopics: [singleConvertTopic, convertTopic, externalConvertTopic],
  reads: (version) => events.has(version),
  decode(log, version) {
    const [topic = ''] = log.topics
    const ofVersion = events.get(version) ?? {}
    const decode = Object.hasOwn(ofVersion, topic) ? ofVersion[topic] : undefined
    if (decode === undefined) return { kind: 'malformed', reason: `version ${version} has no event ${topic}` }
    return decode(log)
  },
  integrationAddress: readIntegrationSuffix,
  call: readRouterCall,
}
