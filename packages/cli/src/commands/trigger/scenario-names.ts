/**
 * The scenarios and verdicts, for the help text: reading them from the testing package would load the whole service.
 * @module
 */
import type { TriggerScenario, TriggerVerdict } from '@payment-integration/testing/twin'

const scenarios = {
  payment: 0,
  success: 0,
  failure: 0,
  refund: 0,
  'out-of-order': 0,
  duplicate: 0,
  burst: 0,
  'multi-chain-hash': 0,
  reorg: 0,
  kyc: 0,
} as const satisfies Readonly<Record<TriggerScenario, 0>>

/** Every scenario. */
export const scenarioNames: readonly string[] = Object.keys(scenarios)

/** Every verdict of `kyc`. */
export const verdictNames: readonly TriggerVerdict[] = ['green', 'red-retry', 'red-final']
