/** Names of the events that a server in development causes on demand. Source: docs/decisions/trigger.md. @module */
import { integrationPrefix } from './wire.js'

/** Path on which they are caused. */
export const triggerPath = `${integrationPrefix}/trigger`

/** Every scenario; the decision page says what each causes. */
export const triggerScenarios = [
  'payment',
  'success',
  'failure',
  'refund',
  'out-of-order',
  'duplicate',
  'burst',
  'multi-chain-hash',
  'reorg',
  'kyc',
] as const

/** Name of a scenario. */
export type TriggerScenario = (typeof triggerScenarios)[number]

/** Verdicts of the scenario `kyc`. After `red-retry` the user may share again; after `red-final` that is in vain. */
export const triggerVerdicts = ['green', 'red-retry', 'red-final'] as const

/** A verdict of the scenario `kyc`. */
export type TriggerVerdict = (typeof triggerVerdicts)[number]
