export { type ChainSubject, chainConformance } from '../../conformance/chain-conformance.js'
export * as fixtures from '../../conformance/fixtures.js'
export {
  type IdentityProviderSubject,
  identityProviderConformance,
} from '../../conformance/identity-provider-conformance.js'
export {
  type ReceivedPost,
  type ReceiverAnswer,
  type SenderSubject,
  senderConformance,
} from '../../conformance/sender-conformance.js'
export {
  type FulfilmentSourceSubject,
  fulfilmentSourceConformance,
  type ReceiptSourceSubject,
  receiptSourceConformance,
} from '../../conformance/source-conformance.js'
export { historyConformance, storeConformance } from '../../conformance/store-conformance.js'
export type { OpenStore, StoreSubject } from '../../conformance/subject.js'
