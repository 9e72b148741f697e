/** Reads chains as the service does. @module */
import type { BlockRange, Chain, PaymentFacts, RangesRequest, StoredPayment } from '@payment-integration/core/ports'
import { storedPayment } from '../../core/test/support/stored-payment.js'

/** Joins all ranges from `from` to `to`, with the weakest proof level among them. The head is `to` by default. */
export async function readAll(
  chain: Chain,
  from: number,
  to: number,
  { head = to, routers }: { readonly head?: number; readonly routers?: readonly string[] } = {},
): Promise<BlockRange> {
  let all: BlockRange | undefined
  for await (const range of chain.ranges({ from, to, head, routers })) {
    if (all === undefined) all = range
    else
      all = {
        ...all,
        last: range.last,
        blocks: [...all.blocks, ...range.blocks],
        payments: [...all.payments, ...range.payments],
        deposits: [...all.deposits, ...range.deposits],
        proof: weaker(all.proof, range.proof),
      }
  }
  if (all === undefined) throw new Error(`no range came for ${from} to ${to}`)
  return all
}

/** The first payment of a block, as it is stored. */
export async function readStored(chain: Chain, height: number): Promise<StoredPayment> {
  const [facts] = (await readAll(chain, height, height)).payments
  if (facts === undefined) throw new Error('The payment was not read.')
  return storedPayment({ id: '1', ...facts })
}

/** Reads payments as an indexer does: after each failure, behind the last range. `onFailure` may throw to give up. */
export async function follow(
  chain: Chain,
  request: RangesRequest,
  onFailure: (error: unknown, failuresBefore: number) => unknown,
): Promise<PaymentFacts[]> {
  const payments: PaymentFacts[] = []
  let failuresInARow = 0
  for (let from = request.from; from <= request.to; ) {
    try {
      for await (const range of chain.ranges({ ...request, from })) {
        payments.push(...range.payments)
        from = range.last.number + 1
        failuresInARow = 0
      }
    } catch (error) {
      await onFailure(error, failuresInARow)
      failuresInARow += 1
    }
  }
  return payments
}

function weaker(a: BlockRange['proof'], b: BlockRange['proof']): BlockRange['proof'] {
  const levels = ['none', 'bloom', 'root'] as const
  return levels[Math.min(levels.indexOf(a), levels.indexOf(b))] ?? 'none'
}
