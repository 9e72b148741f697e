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
export type { Trigger } from '../twin/trigger/create-trigger.js'
export { TriggerError, type TriggerEvent } from '../twin/trigger/events.js'
export {
  type TriggerPayment,
  type TriggerRequest,
  TriggerRequestError,
  triggerDefaults,
} from '../twin/trigger/request.js'
export {
  createSimulatedChains,
  type SimulatedChains,
  type SimulatedChainsDeps,
} from '../twin/trigger/simulated-chains.js'
export { testSource } from '../twin/trigger/test-source.js'
