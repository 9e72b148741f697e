export { type ChainSubject, chainConformance } from '../conformance/chain.js'
export { type IdentityProviderSubject, identityProviderConformance } from '../conformance/identity-provider.js'
export { type ReceivedPost, type ReceiverAnswer, type SenderSubject, senderConformance } from '../conformance/sender.js'
export {
  type FulfilmentSourceSubject,
  fulfilmentSourceConformance,
  type ReceiptSourceSubject,
  receiptSourceConformance,
} from '../conformance/sources.js'
