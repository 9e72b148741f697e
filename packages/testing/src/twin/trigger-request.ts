/** Requests and events of triggers, and the source of an equivalent test. @module */
import type { ShareResponse } from '@payment-integration/contract'
import type { TriggerScenario, TriggerVerdict } from '@payment-integration/contract/internal'
import { triggerScenarios, triggerVerdicts } from '@payment-integration/contract/internal'
import { createDraws } from '../builders.js'
import { TriggerRequestError } from '../errors.js'
import { buildPayment, type TwinPaymentInput } from './chain.js'
import type { ExpectedVerdict } from './network.js'

/** An event of a trigger. A `chainId` is a decimal string. */
export type TriggerEvent =
  /** A block with payments was mined. */
  | {
      readonly event: 'block'
      readonly chainId: string
      readonly blockNumber: number
      /** The transaction hashes of the block's payments. */
      readonly txHashes: readonly string[]
    }
  /** The processor's update was applied. */
  | (Readonly<Record<'chainId' | 'txHash', string>> & { readonly event: 'update'; readonly state: string })
  /** The service stored a version. */
  | (Readonly<Record<'chainId' | 'txHash', string>> & {
      readonly event: 'snapshot'
      readonly version: number
      readonly state: string | null
      /** The exact bytes that are signed and sent, as text. */
      readonly body: string
    })
  /** A delivery was attempted; `expected` is the verdict of a correct receiver. */
  | (Readonly<Record<'chainId' | 'txHash', string>> & {
      readonly event: 'delivery'
      readonly version: number
      readonly expected: ExpectedVerdict
      /** The status of the receiver's answer; null: none arrived. */
      readonly status: number | null
    })
  /** Blocks were replaced; the payment is in a new block, or left the chain. */
  | (Readonly<Record<'chainId' | 'txHash', string>> & { readonly event: 'reorganized'; readonly included: boolean })
  /** A verification was shared: the request, and the endpoint's answer. */
  | {
      readonly event: 'share'
      readonly request: { readonly email: string; readonly kycShareToken: string }
      readonly status: number
      readonly answer: ShareResponse | { readonly error: string }
    }
  /** The scenario ended: the last event of a scenario that did not fail. */
  | {
      readonly event: 'done'
      readonly scenario: TriggerScenario
      readonly payments: number
      /** Versions that the service stored. */
      readonly snapshots: number
    }
  /** The scenario ended early. The endpoint sends this event in place of an error. */
  | { readonly event: 'failed'; readonly reason: string }

/** Fields of the payment that a scenario makes. Each has a default. */
export type TriggerPayment = Pick<TwinPaymentInput, 'amount' | 'token' | 'chainId' | 'memo' | 'sender' | 'receiver'>

/** The scenario to run, with its options. */
export interface TriggerRequest extends TriggerPayment {
  /** The name of the scenario, such as `refund`. */
  readonly scenario: TriggerScenario
  /** Payments of a `burst`, 1 to 10000. @default 100 */
  readonly count?: number | undefined
  /** Verdict of `kyc`. @default green */
  readonly verdict?: TriggerVerdict | undefined
}

/** Defaults of {@link TriggerRequest}. */
export const triggerDefaults = { count: 100, verdict: 'green' } as const

const textFields = ['amount', 'token', 'memo', 'sender', 'receiver'] as const
const paymentFields = [...textFields, 'chainId']
const maxPayments = 10_000

/** @throws TriggerRequestError `ERR_TRIGGER_INVALID`, also for an option that the scenario does not use. */
export function parseTriggerRequest(value: unknown): TriggerRequest {
  if (typeof value !== 'object' || value === null)
    throw new TriggerRequestError('A trigger is an object with a scenario.')
  const fields = Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined))
  const scenario = triggerScenarios.find((known) => known === fields['scenario'])
  if (scenario === undefined)
    throw new TriggerRequestError(`The scenario is unknown; use one of ${triggerScenarios.join(', ')}.`)
  const options = scenario === 'kyc' ? ['verdict'] : [...paymentFields, ...(scenario === 'burst' ? ['count'] : [])]
  for (const name of Object.keys(fields))
    if (name !== 'scenario' && !options.includes(name))
      throw new TriggerRequestError(`${name.slice(0, 40)} is not an option of ${scenario}.`)
  for (const name of textFields)
    if (fields[name] !== undefined && typeof fields[name] !== 'string')
      throw new TriggerRequestError(`${name} must be a string.`)
  const { chainId, count, verdict } = fields
  if (chainId !== undefined && !isWhole(chainId, Number.MAX_SAFE_INTEGER))
    throw new TriggerRequestError('chainId must be a whole number, 1 or more.')
  if (count !== undefined && !isWhole(count, maxPayments))
    throw new TriggerRequestError(`count must be a whole number from 1 to ${maxPayments}.`)
  if (verdict !== undefined && !triggerVerdicts.some((known) => known === verdict))
    throw new TriggerRequestError(`verdict must be one of ${triggerVerdicts.join(', ')}.`)
  const request = { ...fields, scenario } as TriggerRequest
  // Building a payment checks its values.
  try {
    buildPayment({ ...pickPaymentFields(request), integrationAddress: null }, createDraws(0))
  } catch (error) {
    throw new TriggerRequestError(error instanceof Error ? error.message : 'A value is malformed.')
  }
  return request
}

export function pickPaymentFields({ amount, token, chainId, memo, sender, receiver }: TriggerPayment): TriggerPayment {
  return { amount, token, chainId, memo, sender, receiver }
}

function isWhole(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= max
}

/**
 * Returns the source of a vitest file that causes the same events on a twin, and expects a correct receiver.
 * @throws TriggerRequestError `ERR_TRIGGER_INVALID`, also for `kyc`, which delivers nothing to a receiver.
 * @example
 * import { buildTestSource } from '@payment-integration/testing/twin'
 * console.log(buildTestSource({ scenario: 'refund', amount: '12.50' }))
 */
export function buildTestSource(request: TriggerRequest): string {
  const { scenario } = parseTriggerRequest(request)
  if (scenario === 'kyc')
    throw new TriggerRequestError('kyc delivers nothing to a receiver, so there is no receiver test of it.')
  return `import { createTwin } from '@payment-integration/testing/twin'
import { expect, test } from 'vitest'
// Yours: it makes the fetch handler of your receiver, for a secret and a clock.
import { createHandler } from './receiver.js'

test('the receiver handles the scenario ${scenario}', async () => {
  const twin = await createTwin({ seed: 1 })
  try {
    const shop = await twin.addIntegration((request) => handle(request))
    const handle = createHandler({ signingSecret: shop.signingSecret, clock: twin.clock })
    await twin.trigger(${JSON.stringify(request)}, shop)
    for (const { expected, status } of twin.arrivals)
      expect(status, expected).toSatisfy((code) => (expected === 'reject' ? code >= 400 : code >= 200 && code < 300))
  } finally {
    await twin.close()
  }
})
`
}
