/** What to cause: the scenarios, their options, and the checks of a request. @module */
import {
  type TriggerScenario,
  type TriggerVerdict,
  triggerScenarios,
  triggerVerdicts,
} from '@payment-integration/contract'
import { createDraws } from '../../builders/draws.js'
import { paymentOf, type TwinPaymentInput } from '../payment-input.js'

/** Fields of the payment that a scenario makes. Each has a drawn default. */
export type TriggerPayment = Pick<TwinPaymentInput, 'amount' | 'token' | 'chainId' | 'memo' | 'sender' | 'receiver'>

/** What to cause. */
export interface TriggerRequest extends TriggerPayment {
  readonly scenario: TriggerScenario
  /** Payments of a `burst`, 1 to 10000. @default 100 */
  readonly count?: number | undefined
  /** Verdict of `kyc`. @default green */
  readonly verdict?: TriggerVerdict | undefined
}

/** Defaults of {@link TriggerRequest}. */
export const triggerDefaults = { count: 100, verdict: 'green' } as const

const texts = ['amount', 'token', 'memo', 'sender', 'receiver'] as const
const paymentFields: readonly string[] = [...texts, 'chainId']
const mostPayments = 10_000

/** A scenario or option is unknown, or a value is malformed. Nothing was caused. */
export class TriggerRequestError extends Error {
  override readonly name = 'TriggerRequestError'
  readonly code = 'ERR_TRIGGER_INVALID'
}

/**
 * Checks a request, such as the JSON of a body. An option that the scenario does not use is an error.
 * @throws TriggerRequestError `ERR_TRIGGER_INVALID`.
 */
export function parseTriggerRequest(value: unknown): TriggerRequest {
  if (typeof value !== 'object' || value === null)
    throw new TriggerRequestError('A trigger is an object with a scenario.')
  const fields = Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined))
  const scenario = scenarioOf(fields['scenario'])
  for (const name of Object.keys(fields)) checkName(name, scenario)
  for (const name of texts)
    if (fields[name] !== undefined && typeof fields[name] !== 'string')
      throw new TriggerRequestError(`${name} must be a text.`)
  const { chainId, count, verdict } = fields
  if (chainId !== undefined && !isWhole(chainId, Number.MAX_SAFE_INTEGER))
    throw new TriggerRequestError('chainId must be a whole number, 1 or more.')
  if (count !== undefined && !isWhole(count, mostPayments))
    throw new TriggerRequestError(`count must be a whole number from 1 to ${mostPayments}.`)
  if (verdict !== undefined && !triggerVerdicts.some((known) => known === verdict))
    throw new TriggerRequestError(`verdict must be one of ${triggerVerdicts.join(', ')}.`)
  const request = { ...fields, scenario } as TriggerRequest
  // The values of the payment are checked by making it.
  try {
    paymentOf({ ...paymentFieldsOf(request), integrationAddress: null }, createDraws(0))
  } catch (error) {
    throw new TriggerRequestError(error instanceof Error ? error.message : 'A value is malformed.')
  }
  return request
}

/** The fields of the payment. */
export function paymentFieldsOf({ amount, token, chainId, memo, sender, receiver }: TriggerPayment): TriggerPayment {
  return { amount, token, chainId, memo, sender, receiver }
}

function scenarioOf(value: unknown): TriggerScenario {
  const scenario = triggerScenarios.find((known) => known === value)
  if (scenario !== undefined) return scenario
  throw new TriggerRequestError(`The scenario is unknown; there are ${triggerScenarios.join(', ')}.`)
}

function checkName(name: string, scenario: TriggerScenario): void {
  const isUsed =
    name === 'scenario' ||
    (name === 'verdict' && scenario === 'kyc') ||
    (name === 'count' && scenario === 'burst') ||
    (paymentFields.includes(name) && scenario !== 'kyc')
  if (!isUsed) throw new TriggerRequestError(`${name.slice(0, 40)} is no option of ${scenario}.`)
}

function isWhole(value: unknown, most: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= most
}
