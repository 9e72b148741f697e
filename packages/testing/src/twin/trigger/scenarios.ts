/** The scenarios. Each acts from outside of the service: by blocks, updates, replays and verdicts. @module */
import { finality, shareRejectedMessage, type TriggerScenario } from '@payment-integration/contract'
import { RedemptionRejectedError } from '@payment-integration/core/identity'
import {
  chainOf,
  delivered,
  mine,
  pay,
  repeat,
  type Steps,
  showSnapshot,
  type TriggerContext,
  type TriggeredPayment,
  until,
  update,
} from './context.js'
import { TriggerError } from './events.js'
import { paymentFieldsOf, type TriggerRequest, triggerDefaults } from './request.js'

type Scenario = (context: TriggerContext, request: TriggerRequest) => Steps

const merchant = { title: 'Blue Door Coffee', subtitle: 'Lisbon' }
/** Payments of one block of a burst. */
const perBlock = 100

/** A payment that the processor completes: versions 1 to 3. */
async function* complete(context: TriggerContext, request: TriggerRequest): Steps<TriggeredPayment> {
  const payment = yield* pay(context, paymentFieldsOf(request))
  yield* update(context, payment, { state: 'pending' })
  const [amount, currency] = [request.amount ?? '25.00', 'EUR']
  const invoice = { amount, currency, settlementAmount: amount, settlementCurrency: currency }
  yield* update(context, payment, { state: 'success', recipient: merchant, invoice })
  return payment
}

/** One scenario for each name. */
export const scenarios: Readonly<Record<TriggerScenario, Scenario>> = {
  async *payment(context, request) {
    yield* pay(context, paymentFieldsOf(request))
  },

  async *success(context, request) {
    yield* complete(context, request)
  },

  async *failure(context, request) {
    const payment = yield* pay(context, paymentFieldsOf(request))
    yield* update(context, payment, { state: 'pending' })
    yield* update(context, payment, { state: 'failure' })
  },

  async *refund(context, request) {
    const payment = yield* complete(context, request)
    yield* update(context, payment, { state: 'refund_pending' })
    yield* update(context, payment, { state: 'refund_success' })
  },

  async *'out-of-order'(context, request) {
    const payment = yield* complete(context, request)
    await delivered(context, payment, 3)
    yield* repeat(context, payment, 2, 'stale')
    yield* repeat(context, payment, 1, 'stale')
  },

  async *duplicate(context, request) {
    const payment = yield* pay(context, paymentFieldsOf(request))
    yield* repeat(context, payment, 1, 'duplicate')
  },

  async *burst(context, request) {
    const { count = triggerDefaults.count } = request
    let last: TriggeredPayment | undefined
    for (let made = 0; made < count; made += perBlock) {
      const inputs = Array.from({ length: Math.min(perBlock, count - made) }, () => paymentFieldsOf(request))
      last = (yield* mine(context, inputs)).at(-1)
    }
    if (last !== undefined) yield* showSnapshot(context, last, 1)
  },

  async *'multi-chain-hash'(context, request) {
    const first = chainOf(context, request.chainId)
    const second = context.chains.find((chain) => chain !== first)
    if (second === undefined) throw new TriggerError('This needs two simulated chains.')
    const txHash = context.draws.hex(32)
    for (const { chainId } of [first, second]) yield* pay(context, { ...paymentFieldsOf(request), chainId, txHash })
  },

  async *reorg(context, request) {
    const chain = chainOf(context, request.chainId)
    const { confirmations } = finality[chain.chainId as keyof typeof finality] ?? {}
    if (confirmations === undefined)
      throw new TriggerError(`A payment on chain ${chain.chainId} is never final, so it is never given up.`)
    const payment = yield* pay(context, paymentFieldsOf(request))
    const again = yield* replaceBlocks(context, payment, true)
    yield* replaceBlocks(context, again, false)
    // The payment is given up when the height of its block is final.
    for (let mined = 0; mined <= confirmations; mined += 1) chain.mine()
    yield* showSnapshot(context, payment, 2)
  },

  async *kyc(context, { verdict = triggerDefaults.verdict }) {
    const { identity, integrationAddress, draws } = context
    const sharing = context.service.identity
    if (identity === null || sharing === null) throw new TriggerError('This server simulates no identity provider.')
    const email = `user-${draws.hex(6).slice(2)}@shop.example`
    const shareToken = identity.mint()
    const request = { email, kycShareToken: shareToken }
    const share = () => sharing.share({ integrationAddress, email, shareToken })
    yield { event: 'share', request, status: 200, answer: await share() }
    identity.decide(shareToken, verdict)
    yield await until(context, 'the verdict arrived', async () => {
      try {
        const answer = await share()
        return answer.reviewAnswer === null ? null : { event: 'share' as const, request, status: 200, answer }
      } catch (error) {
        // After RED the service tries the token again; the provider's refusal carries the former verdict.
        if (!(error instanceof RedemptionRejectedError)) throw error
        const answer = { error: shareRejectedMessage(error.providerMessage, error.formerReview) }
        return { event: 'share' as const, request, status: 422, answer }
      }
    })
  },
}

/** Replaces the blocks from that of a payment on. The other payments of these blocks are mined again. */
async function* replaceBlocks(
  context: TriggerContext,
  payment: TriggeredPayment,
  included: boolean,
): Steps<TriggeredPayment> {
  const { chainId, txHash } = payment
  const chain = chainOf(context, chainId)
  const depth = chain.height() - payment.blockNumber + 1
  const orphaned = chain.orphan(depth)
  const others = orphaned.filter((each) => each.txHash !== txHash)
  // One block later, so that the payment moves.
  const { number } = chain.mine(others)
  const { number: blockNumber } = chain.mine(included ? orphaned.filter((each) => each.txHash === txHash) : [])
  // A longer branch: a node follows no shorter one.
  while (chain.height() < number + depth) chain.mine()
  const head = chain.height()
  await until(context, `the new blocks of chain ${chainId} are indexed`, async () => {
    const indexed = await context.service.store.payments.checkpoint(chainId)
    return indexed !== null && indexed.blockNumber >= head ? true : null
  })
  yield { event: 'reorganised', chainId: String(chainId), txHash, included }
  return { ...payment, blockNumber }
}
