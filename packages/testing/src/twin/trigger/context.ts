/** What every scenario works with: making payments, updates, and waiting for their effects. @module */
import type { ProcessorUpdate, SnapshotBody } from '@payment-integration/contract'
import type { Service } from '@payment-integration/core'
import type { DeliveryView, StoredPayment } from '@payment-integration/core/ports'
import type { Draws } from '../../builders/draws.js'
import type { TriggerIdentity } from '../../identity-provider/trigger-identity.js'
import type { TwinChain } from '../chain.js'
import { paymentOf } from '../payment-input.js'
import { TriggerError, type TriggerEvent } from './events.js'
import { type TriggerPayment, TriggerRequestError } from './request.js'

const defaultChain = 137

/** The parts that a scenario moves. */
export interface TriggerDeps {
  readonly service: Service
  readonly chains: readonly TwinChain[]
  /** Null: the scenario `kyc` is not available. */
  readonly identity: TriggerIdentity | null
  readonly draws: Draws
  /** Lets the service work. Resolves false when to give up. @param turn - 0 for the first call of a wait. */
  readonly progress: (turn: number) => Promise<boolean>
}

/** The dependencies, for one integration. */
export interface TriggerContext extends TriggerDeps {
  readonly integrationAddress: string
}

/** A payment of a scenario. */
export interface TriggeredPayment {
  readonly chainId: number
  readonly txHash: string
  readonly blockNumber: number
}

/** Events on the way to a result. */
export type Steps<Result = void> = AsyncGenerator<TriggerEvent, Result, undefined>

/** The chain of a request; without one 137, or else the first. @throws TriggerRequestError When there is none. */
export function chainOf({ chains }: TriggerDeps, chainId: number | undefined): TwinChain {
  const wanted = chainId ?? defaultChain
  const chain = chains.find((each) => each.chainId === wanted) ?? (chainId === undefined ? chains[0] : undefined)
  if (chain === undefined)
    throw new TriggerRequestError(
      `Chain ${chainId} is not simulated; there are ${chains.map((each) => each.chainId).join(', ')}.`,
    )
  return chain
}

/** Repeats a check until it answers. @throws TriggerError When the service makes no progress any more. */
export async function until<T>(
  { progress }: TriggerDeps,
  what: string,
  check: () => Promise<T | null | undefined>,
): Promise<T> {
  for (let turn = 0; ; turn += 1) {
    const found = await check()
    if (found !== null && found !== undefined) return found
    if (!(await progress(turn)))
      throw new TriggerError(`It did not happen in time: ${what}. Does another process index this chain?`)
  }
}

/** Makes payments in one block. */
export async function* mine(
  context: TriggerContext,
  inputs: readonly (TriggerPayment & { readonly txHash?: string | undefined })[],
): Steps<readonly TriggeredPayment[]> {
  const { integrationAddress, draws } = context
  const chain = chainOf(context, inputs[0]?.chainId)
  const { chainId } = chain
  const payments = inputs.map((input) => paymentOf({ ...input, chainId, integrationAddress }, draws))
  const { number: blockNumber } = chain.mine(payments)
  const txHashes = payments.map(({ txHash }) => txHash)
  yield { event: 'block', chainId: String(chainId), blockNumber, txHashes }
  return txHashes.map((txHash) => ({ chainId, txHash, blockNumber }))
}

/** Makes one payment and shows its first snapshot. */
export async function* pay(
  context: TriggerContext,
  input: TriggerPayment & { readonly txHash?: string | undefined },
): Steps<TriggeredPayment> {
  const [payment] = yield* mine(context, [input])
  if (payment === undefined) throw new TriggerError('No payment was made.')
  yield* showSnapshot(context, payment, 1)
  return payment
}

/** Waits for a version of a payment and shows its bytes. */
export async function* showSnapshot(context: TriggerContext, payment: TriggeredPayment, version: number): Steps {
  const { chainId, txHash } = payment
  const { payments } = context.service.store
  const bytes = await until(context, `version ${version} of ${txHash} is stored`, async () => {
    const stored = await find(context, payment)
    return stored === undefined || stored.version < version ? null : payments.snapshot(stored.id, version)
  })
  const body = new TextDecoder().decode(bytes)
  const { state } = JSON.parse(body) as SnapshotBody
  yield { event: 'snapshot', chainId: String(chainId), txHash, version, state, body }
}

async function find(context: TriggerContext, payment: TriggeredPayment): Promise<StoredPayment | undefined> {
  const { integrationAddress, service } = context
  const found = await service.store.payments.findByHash({ integrationAddress, txHash: payment.txHash })
  return found.find(({ chainId }) => chainId === payment.chainId)
}

/** Applies an update of the processor and shows the version that it makes. */
export async function* update(
  context: TriggerContext,
  payment: TriggeredPayment,
  change: Pick<ProcessorUpdate, 'recipient' | 'invoice'> & { readonly state: NonNullable<ProcessorUpdate['state']> },
): Steps {
  const { service, draws, integrationAddress } = context
  const chainId = String(payment.chainId)
  const { txHash } = payment
  const id = `trigger-${draws.hex(8).slice(2)}`
  const result = await service.applyUpdate({ id, chainId, txHash, integrationAddress, ...change })
  if (result.outcome !== 'applied' || result.version === null)
    throw new TriggerError(`The update to ${change.state} was not applied (${result.outcome}).`)
  yield { event: 'update', chainId, txHash, state: change.state }
  yield* showSnapshot(context, payment, result.version)
}

/** Waits until the receiver has accepted a version. @throws TriggerError When it did not, or nothing is delivered. */
export async function delivered(
  context: TriggerContext,
  payment: TriggeredPayment,
  version: number,
): Promise<DeliveryView> {
  const { integrationAddress, service } = context
  const { chainId, txHash } = payment
  const integrations = await service.integrations.list()
  const integration = integrations.find(({ address }) => address === integrationAddress)
  if (integration?.notificationUrl == null)
    throw new TriggerError('The integration has no notification URL, so nothing is delivered.')
  const view = await until(context, `version ${version} of ${txHash} is attempted`, async () => {
    const views = await service.deliveries.list({ integrationAddress, chainId, txHash, limit: 50 })
    return views.find((each) => each.version === version && each.attempts.length > 0)
  })
  if (view.status === 'delivered') return view
  const status = view.attempts.at(-1)?.status
  throw new TriggerError(
    `The receiver did not accept version ${version} (${status ?? 'no answer'}), so it is not repeated.`,
  )
}

/** Sends a delivered version again and shows the attempt. */
export async function* repeat(
  context: TriggerContext,
  payment: TriggeredPayment,
  version: number,
  expected: 'duplicate' | 'stale',
): Steps {
  const { deliveries } = context.service
  const before = await delivered(context, payment, version)
  await deliveries.replay(before.deliveryId)
  const after = await until(context, `version ${version} is sent again`, async () => {
    const view = await deliveries.find(before.deliveryId)
    return view.attempts.length > before.attempts.length ? view : null
  })
  const { txHash } = payment
  const status = after.attempts.at(-1)?.status ?? null
  yield { event: 'delivery', chainId: String(payment.chainId), txHash, version, expected, status }
}
