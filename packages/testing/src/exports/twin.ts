export { type Chaos, type ChaosFault, type ChaosPlan, chaosDefaults, createChaos } from '../twin/chaos.js'
export {
  createTwin,
  type Twin,
  type TwinChange,
  type TwinIntegration,
  type TwinOptions,
  type TwinPayment,
  twinDefaults,
} from '../twin/create-twin.js'
export type { TwinIdentity, TwinMinting, TwinReviewCall, TwinReviewChange, TwinUser } from '../twin/identity.js'
export type { ExpectedVerdict, TwinArrival, TwinReceiver } from '../twin/network.js'
export type { TwinPaymentInput } from '../twin/payment-input.js'
