/** What to cause: the scenarios, their options, and the checks of a request. @module */
import { createDraws } from '../builders/draws.js'
import { paymentOf, type TwinPaymentInput } from '../twin/payment-input.js'

/** Every scenario with what it causes. */
export const triggerScenarios = {
  payment: 'a payment without a state',
  success: 'a payment that becomes pending, then success',
  failure: 'a payment that becomes pending, then failure',
  refund: 'a completed payment that is refunded',
  'out-of-order': 'a completed payment; its older versions arrive again after the newest',
  duplicate: 'a payment whose delivery arrives twice',
  burst: 'many payments at once',
  'multi-chain-hash': 'two payments with one transaction hash, on two chains',
  reorg: 'a payment whose block is replaced, then lost for good',
  kyc: 'a shared identity verification and its verdict',
} as const

/** Name of a scenario. */
export type TriggerScenario = keyof typeof triggerScenarios

/** Verdicts of the scenario `kyc`: `red-retry` allows a new share, `red-final` does not help with one. */
export const triggerVerdicts = ['green', 'red-retry', 'red-final'] as const

/** A verdict of the scenario `kyc`. */
export type TriggerVerdict = (typeof triggerVerdicts)[number]

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

/**
 * Checks a request, such as the JSON of a body. An option that the scenario does not use is an error.
 * @throws {TypeError} For an unknown scenario or option. @throws {RangeError} For a malformed value.
 */
export function parseTriggerRequest(value: unknown): TriggerRequest {
  if (typeof value !== 'object' || value === null) throw new TypeError('A trigger is an object with a scenario.')
  const fields = Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined))
  const scenario = scenarioOf(fields['scenario'])
  for (const name of Object.keys(fields)) checkName(name, scenario)
  for (const name of texts)
    if (fields[name] !== undefined && typeof fields[name] !== 'string') throw new RangeError(`${name} must be a text.`)
  const { chainId, count, verdict } = fields
  if (chainId !== undefined && !isWhole(chainId, Number.MAX_SAFE_INTEGER))
    throw new RangeError('chainId must be a whole number, 1 or more.')
  if (count !== undefined && !isWhole(count, mostPayments))
    throw new RangeError(`count must be a whole number from 1 to ${mostPayments}.`)
  if (verdict !== undefined && !triggerVerdicts.some((known) => known === verdict))
    throw new RangeError(`verdict must be one of ${triggerVerdicts.join(', ')}.`)
  const request = { ...fields, scenario } as TriggerRequest
  // The values of the payment are checked by making it.
  paymentOf({ ...paymentFieldsOf(request), integrationAddress: null }, createDraws(0))
  return request
}

/** The fields of the payment. */
export function paymentFieldsOf({ amount, token, chainId, memo, sender, receiver }: TriggerPayment): TriggerPayment {
  return { amount, token, chainId, memo, sender, receiver }
}

function scenarioOf(value: unknown): TriggerScenario {
  if (typeof value === 'string' && Object.hasOwn(triggerScenarios, value)) return value as TriggerScenario
  throw new TypeError(`The scenario is unknown; there are ${Object.keys(triggerScenarios).join(', ')}.`)
}

function checkName(name: string, scenario: TriggerScenario): void {
  const isUsed =
    name === 'scenario' ||
    (name === 'verdict' && scenario === 'kyc') ||
    (name === 'count' && scenario === 'burst') ||
    (paymentFields.includes(name) && scenario !== 'kyc')
  if (!isUsed) throw new TypeError(`${name.slice(0, 40)} is no option of ${scenario}.`)
}

function isWhole(value: unknown, most: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= most
}
