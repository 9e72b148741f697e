export type { Steps, TriggerDeps, TriggerIdentity } from '../trigger/context.js'
export { createSimulation, type Simulation, type SimulationDeps } from '../trigger/create-simulation.js'
export { createTrigger, type Trigger } from '../trigger/create-trigger.js'
export { TriggerError, type TriggerEvent } from '../trigger/events.js'
export { triggerIdentity } from '../trigger/identity.js'
export {
  parseTriggerRequest,
  type TriggerPayment,
  type TriggerRequest,
  type TriggerScenario,
  type TriggerVerdict,
  triggerDefaults,
  triggerScenarios,
  triggerVerdicts,
} from '../trigger/request.js'
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
