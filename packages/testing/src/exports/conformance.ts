export {
  type ChainSubject,
  chainConformance,
  type FulfillmentSourceSubject,
  fulfillmentSourceConformance,
  type IdentityProviderSubject,
  identityProviderConformance,
  type ReceiptSourceSubject,
  receiptSourceConformance,
  type SenderSubject,
  senderConformance,
} from '../conformance.js'
