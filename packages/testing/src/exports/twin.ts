export type { TriggerIdentity } from '../trigger/context.js'
export type { Trigger } from '../trigger/create-trigger.js'
export { TriggerError, type TriggerEvent } from '../trigger/events.js'
export { type TriggerPayment, type TriggerRequest, TriggerRequestError, triggerDefaults } from '../trigger/request.js'
export { createSimulatedChains, type SimulatedChains, type SimulatedChainsDeps } from '../trigger/simulated-chains.js'
export { testSource } from '../trigger/test-source.js'
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
