/** Causes events in a service for an integration, in a twin or on simulated chains. @module */
import { finality, type ProcessorUpdate, type SnapshotBody } from '@payment-integration/contract'
import { formatShareRejection, type TriggerScenario } from '@payment-integration/contract/internal'
import type { Service } from '@payment-integration/core'
import { ShareTokenRejectedError } from '@payment-integration/core/identity'
import type { Chain, Clock, Store } from '@payment-integration/core/ports'
import { createDraws, type Draws } from '../builders.js'
import { TriggerError, TriggerRequestError } from '../errors.js'
import type { TriggerIdentity } from '../identity-provider/control.js'
import { buildPayment, createTwinChain, type TwinChain } from './chain.js'
import type { TriggerEvent, TriggerPayment, TriggerRequest } from './trigger-request.js'
import { parseTriggerRequest, pickPaymentFields, triggerDefaults } from './trigger-request.js'

const defaultChain = 137

interface TriggerDeps {
  readonly service: Service
  readonly chains: readonly TwinChain[]
  /** Null: the scenario `kyc` is not available. */
  readonly identity: TriggerIdentity | null
  readonly draws: Draws
  /** Lets the service work. Resolves false to give up the wait. @param turn - 0 for the first call of a wait. */
  readonly progress: (turn: number) => Promise<boolean>
}

interface TriggeredPayment {
  readonly chainId: number
  readonly txHash: string
  readonly blockNumber: number
}

type PaymentInput = TriggerPayment & { readonly txHash?: string | undefined }

type Events<Result = void> = AsyncGenerator<TriggerEvent, Result, undefined>

/** Chooses the requested chain, else 137, else the first. @throws TriggerRequestError When the chain is unknown. */
function findChain(chains: readonly TwinChain[], chainId: number | undefined): TwinChain {
  const wantedId = chainId ?? defaultChain
  const chain = chains.find((each) => each.chainId === wantedId) ?? (chainId === undefined ? chains[0] : undefined)
  if (chain === undefined)
    throw new TriggerRequestError(
      `Chain ${chainId} is not simulated; there are ${chains.map((each) => each.chainId).join(', ')}.`,
    )
  return chain
}

/** Creates the steps of scenarios. Each emits the events that it causes. */
function createSteps(deps: TriggerDeps, integrationAddress: string) {
  const { service, chains, draws, progress } = deps
  const { payments } = service.store

  /** Repeats a check until it gives a result. @throws TriggerError When the service makes no more progress. */
  async function until<T>(what: string, check: () => Promise<T | null | undefined>): Promise<T> {
    for (let turn = 0; ; turn += 1) {
      const result = await check()
      if (result !== null && result !== undefined) return result
      if (!(await progress(turn)))
        throw new TriggerError(`It did not happen in time: ${what}. Does another process index this chain?`)
    }
  }

  async function* mine(inputs: readonly PaymentInput[]): Events<readonly TriggeredPayment[]> {
    const chain = findChain(chains, inputs[0]?.chainId)
    const { chainId } = chain
    const unmined = inputs.map((input) =>
      buildPayment({ ...pickPaymentFields(input), txHash: input.txHash, chainId, integrationAddress }, draws),
    )
    const { number: blockNumber } = chain.mine(unmined)
    const txHashes = unmined.map(({ txHash }) => txHash)
    yield { event: 'block', chainId: String(chainId), blockNumber, txHashes }
    return txHashes.map((txHash) => ({ chainId, txHash, blockNumber }))
  }

  async function* pay(input: PaymentInput): Events<TriggeredPayment> {
    const [payment] = yield* mine([input])
    if (payment === undefined) throw new TriggerError('No payment was made.')
    yield* showSnapshot(payment, 1)
    return payment
  }

  /** Waits for a version of a payment, and emits its bytes. */
  async function* showSnapshot({ chainId, txHash }: TriggeredPayment, version: number): Events {
    const bytes = await until(`version ${version} of ${txHash} is stored`, async () => {
      const paymentsOfHash = await payments.findByHash({ integrationAddress, txHash })
      const stored = paymentsOfHash.find((each) => each.chainId === chainId)
      return stored === undefined || stored.version < version ? null : payments.snapshot(stored.id, version)
    })
    const body = new TextDecoder().decode(bytes)
    const { state } = JSON.parse(body) as SnapshotBody
    yield { event: 'snapshot', chainId: String(chainId), txHash, version, state, body }
  }

  /** Applies an update of the processor, and emits the new version. */
  async function* update(payment: TriggeredPayment, change: StateChange): Events {
    const chainId = String(payment.chainId)
    const { txHash } = payment
    const id = `trigger-${draws.hex(8).slice(2)}`
    const result = await service.applyUpdate({ id, chainId, txHash, integrationAddress, ...change })
    if (result.outcome !== 'applied' || result.version === null)
      throw new TriggerError(`The update to ${change.state} was not applied (${result.outcome}).`)
    yield { event: 'update', chainId, txHash, state: change.state }
    yield* showSnapshot(payment, result.version)
  }

  /** Makes a payment that the processor completes: versions 1 to 3. */
  async function* complete(request: TriggerRequest): Events<TriggeredPayment> {
    const payment = yield* pay(request)
    yield* update(payment, { state: 'pending' })
    const [amount, currency] = [request.amount ?? '25.00', 'EUR']
    const invoice = { amount, currency, settlementAmount: amount, settlementCurrency: currency }
    yield* update(payment, { state: 'success', recipient: merchant, invoice })
    return payment
  }

  /** Waits until the receiver accepts a version. @throws TriggerError When it is rejected or not sent. */
  async function waitForDelivery({ chainId, txHash }: TriggeredPayment, version: number) {
    const integrations = await service.integrations.list()
    const integration = integrations.find(({ address }) => address === integrationAddress)
    if (integration?.notificationUrl == null)
      throw new TriggerError('The integration has no notification URL, so nothing is delivered.')
    const view = await until(`version ${version} of ${txHash} is attempted`, async () => {
      const views = await service.deliveries.list({ integrationAddress, chainId, txHash, limit: 50 })
      return views.find((each) => each.version === version && each.attempts.length > 0)
    })
    if (view.status === 'delivered') return view
    const status = view.attempts.at(-1)?.status
    throw new TriggerError(
      `The receiver did not accept version ${version} (${status ?? 'no answer'}), so it is not repeated.`,
    )
  }

  /** Replays a delivered version, and emits the attempt. */
  async function* replay(payment: TriggeredPayment, version: number, expected: 'duplicate' | 'stale'): Events {
    const { deliveries } = service
    const before = await waitForDelivery(payment, version)
    await deliveries.replay(before.deliveryId)
    const after = await until(`version ${version} is sent again`, async () => {
      const view = await deliveries.find(before.deliveryId)
      return view.attempts.length > before.attempts.length ? view : null
    })
    const { txHash } = payment
    const status = after.attempts.at(-1)?.status ?? null
    yield { event: 'delivery', chainId: String(payment.chainId), txHash, version, expected, status }
  }

  /** Replaces a payment's block and all later blocks. Other payments of these blocks are mined again. */
  async function* replaceBlocks(payment: TriggeredPayment, included: boolean): Events<TriggeredPayment> {
    const { chainId, txHash } = payment
    const chain = findChain(chains, chainId)
    const depth = chain.height() - payment.blockNumber + 1
    const orphaned = chain.orphan(depth)
    const others = orphaned.filter((each) => each.txHash !== txHash)
    // The payment is mined one block later than before, so that its block number changes.
    const { number } = chain.mine(others)
    const { number: blockNumber } = chain.mine(included ? orphaned.filter((each) => each.txHash === txHash) : [])
    // Mines a longer chain, because a node never follows a shorter one.
    while (chain.height() < number + depth) chain.mine()
    const head = chain.height()
    await until(`the new blocks of chain ${chainId} are indexed`, async () => {
      const indexed = await payments.checkpoint(chainId)
      return indexed !== null && indexed.blockNumber >= head ? true : null
    })
    yield { event: 'reorganized', chainId: String(chainId), txHash, included }
    return { ...payment, blockNumber }
  }

  const steps = { until, mine, pay, showSnapshot, update, complete, waitForDelivery, replay, replaceBlocks }
  return { ...deps, integrationAddress, ...steps }
}

type StateChange = Pick<ProcessorUpdate, 'recipient' | 'invoice'> & {
  readonly state: NonNullable<ProcessorUpdate['state']>
}

type Scenario = (steps: ReturnType<typeof createSteps>, request: TriggerRequest) => Events

const merchant = { title: 'Blue Door Coffee', subtitle: 'Lisbon' }
const maxPaymentsPerBlock = 100

const scenarios: Readonly<Record<TriggerScenario, Scenario>> = {
  async *payment({ pay }, request) {
    yield* pay(request)
  },

  async *success({ complete }, request) {
    yield* complete(request)
  },

  async *failure({ pay, update }, request) {
    const payment = yield* pay(request)
    yield* update(payment, { state: 'pending' })
    yield* update(payment, { state: 'failure' })
  },

  async *refund({ complete, update }, request) {
    const payment = yield* complete(request)
    yield* update(payment, { state: 'refund_pending' })
    yield* update(payment, { state: 'refund_success' })
  },

  async *'out-of-order'({ complete, waitForDelivery, replay }, request) {
    const payment = yield* complete(request)
    await waitForDelivery(payment, 3)
    yield* replay(payment, 2, 'stale')
    yield* replay(payment, 1, 'stale')
  },

  async *duplicate({ pay, replay }, request) {
    const payment = yield* pay(request)
    yield* replay(payment, 1, 'duplicate')
  },

  async *burst({ mine, showSnapshot }, request) {
    const { count = triggerDefaults.count } = request
    let last: TriggeredPayment | undefined
    for (let mined = 0; mined < count; mined += maxPaymentsPerBlock) {
      const inputs = Array.from({ length: Math.min(maxPaymentsPerBlock, count - mined) }, () => request)
      last = (yield* mine(inputs)).at(-1)
    }
    if (last !== undefined) yield* showSnapshot(last, 1)
  },

  async *'multi-chain-hash'({ chains, draws, pay }, request) {
    const first = findChain(chains, request.chainId)
    const second = chains.find((chain) => chain !== first)
    if (second === undefined) throw new TriggerError('This needs two simulated chains.')
    const txHash = draws.hex(32)
    for (const { chainId } of [first, second]) yield* pay({ ...request, chainId, txHash })
  },

  async *reorg({ chains, pay, replaceBlocks, showSnapshot }, request) {
    const chain = findChain(chains, request.chainId)
    const { confirmations } = finality[chain.chainId as keyof typeof finality] ?? {}
    if (confirmations === undefined)
      throw new TriggerError(`A payment on chain ${chain.chainId} is never final, so the service never drops it.`)
    const payment = yield* pay(request)
    const movedPayment = yield* replaceBlocks(payment, true)
    yield* replaceBlocks(movedPayment, false)
    // The service drops the payment once the height of its block is final.
    for (let mined = 0; mined <= confirmations; mined += 1) chain.mine()
    yield* showSnapshot(payment, 2)
  },

  async *kyc({ service, identity, draws, integrationAddress, until }, { verdict = triggerDefaults.verdict }) {
    const sharing = service.identity
    if (identity === null || sharing === null) throw new TriggerError('This server simulates no identity provider.')
    const email = `user-${draws.hex(6).slice(2)}@shop.example`
    const shareToken = identity.mint()
    const request = { email, kycShareToken: shareToken }
    const share = () => sharing.share({ integrationAddress, email, shareToken })
    yield { event: 'share', request, status: 200, answer: await share() }
    identity.decide(shareToken, verdict)
    yield await until('the verdict arrived', async () => {
      try {
        const answer = await share()
        return answer.reviewAnswer === null ? null : { event: 'share' as const, request, status: 200, answer }
      } catch (error) {
        // After RED the service tries to redeem the token again. The rejection has the former verdict.
        if (!(error instanceof ShareTokenRejectedError)) throw error
        const answer = { error: formatShareRejection(error.providerMessage, error.formerVerdict) }
        return { event: 'share' as const, request, status: 422, answer }
      }
    })
  },
}

/**
 * Checks a request at once, then causes its events one by one, as the caller reads them.
 * @param request - A {@link TriggerRequest}, such as the JSON of a body.
 * @throws TriggerRequestError `ERR_TRIGGER_INVALID` for an unknown scenario or option, a malformed value, or a chain
 * that is not simulated. The iteration rejects with a TriggerError `ERR_TRIGGER` when the scenario ends early, or while
 * another scenario runs.
 */
export type Trigger = (
  request: unknown,
  caller: { readonly integrationAddress: string },
) => AsyncGenerator<TriggerEvent, void, undefined>

/** Makes the trigger of a service. It runs one scenario at a time: a reorg would replace blocks of another. */
export function createTrigger(deps: TriggerDeps): Trigger {
  let isRunning = false
  return (value, { integrationAddress }) => {
    const request = parseTriggerRequest(value)
    findChain(deps.chains, request.chainId)
    return run(request, integrationAddress)
  }

  async function* run(request: TriggerRequest, integrationAddress: string): ReturnType<Trigger> {
    if (isRunning) throw new TriggerError('Another trigger is running; try again when it has ended.')
    isRunning = true
    const { scenario } = request
    let [payments, snapshots] = [0, 0]
    try {
      for await (const event of scenarios[scenario](createSteps(deps, integrationAddress), request)) {
        if (event.event === 'block') payments += event.txHashes.length
        // A burst emits only its last snapshot, once all are stored.
        if (event.event === 'snapshot') snapshots += scenario === 'burst' ? payments : 1
        yield event
      }
    } catch (error) {
      throw isCoded(error) ? new TriggerError(error.message, { cause: error }) : error
    } finally {
      isRunning = false
    }
    yield { event: 'done', scenario, payments, snapshots }
  }
}

/** Whether an error of the service explains itself, such as an unreachable identity provider. */
function isCoded(error: unknown): error is Error {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown }
  return typeof message === 'string' && String(code).startsWith('ERR_')
}

interface SimulatedChainsDeps {
  /** A migrated store. Each chain continues after its stored blocks. */
  readonly store: Pick<Store, 'transaction'>
  readonly chainIds: readonly number[]
  readonly clock: Clock
  /** Different at each start, so that no hash repeats: a whole number from 0 to 4294967295. */
  readonly seed: number
  /** @default none: the scenario `kyc` fails */
  readonly identity?: TriggerIdentity | undefined
}

/** Chains to index, and the trigger that makes their blocks. */
export type SimulatedChains = Awaited<ReturnType<typeof createSimulatedChains>>

/** How many blocks of earlier processes a chain still knows: more than any chain needs until a block is final. */
const maxEarlierBlocks = 2_000
/** The time between two checks for progress of the service, in milliseconds. */
const pollMs = 20
/** A scenario ends early after this many checks without progress: 20 s. */
const maxPolls = 1_000

/**
 * Creates chains whose blocks only a trigger makes.
 * @throws StoreError When the database does not answer, such as `ERR_STORE_UNAVAILABLE`.
 * @example
 * import { systemClock } from '@payment-integration/core'
 * import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
 * import { createSimulatedChains } from '@payment-integration/testing/twin'
 * const store = createSqliteStore({ path: 'dev.db' })
 * await store.migrate()
 * const { chains, trigger } = await createSimulatedChains({ store, chainIds: [137], clock: systemClock, seed: 1 })
 */
export async function createSimulatedChains(deps: SimulatedChainsDeps) {
  const { store, chainIds, clock, seed, identity = null } = deps
  const draws = createDraws(seed)
  // Blocks of one second share a time, as on a fast chain, so that no block is ahead of the clock.
  const world = { clock, newHash: () => draws.hex(32), stepMs: 0 }
  const chains: TwinChain[] = []
  for (const chainId of chainIds) {
    const earlier = await store.transaction((tx) => tx.checkpoints(chainId, Number.MAX_SAFE_INTEGER, maxEarlierBlocks))
    chains.push(createTwinChain(chainId, world, earlier))
  }
  let isClosed = false
  async function progress(turn: number): Promise<boolean> {
    if (!isClosed) await clock.sleep(pollMs)
    return !isClosed && turn < maxPolls
  }
  const chainsToIndex: readonly Chain[] = chains
  return {
    chains: chainsToIndex,
    trigger: (service: Service) => createTrigger({ service, chains, identity, draws, progress }),
    /** Ends a scenario that waits. Call it before the service stops. */
    close() {
      isClosed = true
    },
  }
}
