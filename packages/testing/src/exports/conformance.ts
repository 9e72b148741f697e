export { type ChainSubject, chainConformance } from '../conformance/chain.js'
export {
  type FulfilmentSourceSubject,
  fulfilmentSourceConformance,
  type IdentityProviderSubject,
  identityProviderConformance,
  type ReceiptSourceSubject,
  receiptSourceConformance,
  type SenderSubject,
  senderConformance,
} from '../conformance/outside-ports.js'
