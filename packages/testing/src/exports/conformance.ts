export {
  type ChainSubject,
  chainConformance,
  type FulfilmentSourceSubject,
  fulfilmentSourceConformance,
  type IdentityProviderSubject,
  identityProviderConformance,
  type ReceiptSourceSubject,
  receiptSourceConformance,
  type SenderSubject,
  senderConformance,
} from '../conformance.js'
