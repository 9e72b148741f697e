export type { TwinPaymentInput } from '../twin/chain.js'
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
export {
  type Chaos,
  type ChaosFault,
  type ChaosPlan,
  chaosDefaults,
  createChaos,
  type ExpectedVerdict,
  type TwinArrival,
  type TwinReceiver,
} from '../twin/network.js'
export {
  createSimulatedChains,
  type SimulatedChains,
  type SimulatedChainsDeps,
  type Trigger,
} from '../twin/trigger/create-trigger.js'
export {
  TriggerError,
  type TriggerEvent,
  type TriggerPayment,
  type TriggerRequest,
  TriggerRequestError,
  testSource,
  triggerDefaults,
} from '../twin/trigger/request.js'
