/** Computes the expected store from the true chain, without product code. @module */
import { type FakeChain, getBranch } from '../chain/fake-chain.js'
import { type FakeTransaction, fixtures, type TruePayment } from '../chain/transaction.js'
import { tokenFacts } from '../node/fake-node.js'

/** The token of an amount, from the chain. */
interface NamedToken {
  readonly address: string
  readonly symbol: string | null
  readonly decimals: number
}

/** The facts that do not depend on the transaction's block. */
export interface LastingFacts {
  readonly txHash: string
  readonly ordinal: number
  readonly router: { readonly address: string; readonly version: string }
  readonly sender: string
  readonly receiver: string
  readonly memoHex: string
  readonly integrationAddress: string | null
  readonly tokenIn: NamedToken & { readonly amount: bigint }
  readonly tokenOut: NamedToken & { readonly gross: bigint; readonly net: bigint }
}

/** The on-chain facts of a payment. */
export interface TrueFacts extends LastingFacts {
  readonly logIndex: number
  readonly blockNumber: number
  readonly blockHash: string
  /** Unix time in milliseconds. */
  readonly blockTimestamp: number
}

/** The key of a payment, as in stores. */
export function getKey(payment: { readonly txHash: string; readonly ordinal: number }): string {
  return `${payment.txHash}/${payment.ordinal}`
}

/** Every payment on the canonical branch, by key. */
export function collectPayments(chain: FakeChain): Map<string, TrueFacts> {
  const facts = new Map<string, TrueFacts>()
  for (const block of getBranch(chain.tip)) {
    let firstLog = 0
    for (const transaction of block.transactions) {
      transaction.payments.forEach((payment, ordinal) => {
        const lasting = getFacts(transaction, payment, ordinal)
        const position = {
          logIndex: firstLog + payment.logPosition,
          blockNumber: block.number,
          blockHash: block.hash,
          blockTimestamp: block.timestamp * 1000,
        }
        facts.set(getKey(lasting), { ...lasting, ...position })
      })
      firstLog += transaction.logs.length
    }
  }
  return facts
}

/** The lasting facts of a payment. */
export function getFacts({ hash, integration }: FakeTransaction, payment: TruePayment, ordinal: number): LastingFacts {
  const { router, sender, receiver, token, gross, net, memo } = payment
  const isNative = token === fixtures.nativeToken
  const paidToken = {
    address: token,
    symbol: isNative ? 'ETH' : tokenFacts.symbol,
    decimals: isNative ? 18 : tokenFacts.decimals,
  }
  return {
    txHash: hash,
    ordinal,
    router,
    sender,
    receiver,
    memoHex: memo,
    integrationAddress: integration,
    tokenIn: { ...paidToken, amount: gross },
    tokenOut: { ...paidToken, gross, net },
  }
}

/** Transactions of the canonical branch with router logs that are no payments. */
export function findMalformed(chain: FakeChain): string[] {
  return [...getBranch(chain.tip)].flatMap(({ transactions }) =>
    transactions.filter(({ malformedCount }) => malformedCount > 0).map(({ hash }) => hash),
  )
}

/** Block-independent facts of every payment of any branch, by key. */
export function createLastingFactsLookup(chain: FakeChain): (key: string) => LastingFacts | undefined {
  return (key) => {
    const [hash = '', ordinal] = key.split('/')
    const transaction = chain.everMined.get(hash)
    const payment = transaction?.payments[Number(ordinal)]
    return transaction === undefined || payment === undefined
      ? undefined
      : getFacts(transaction, payment, Number(ordinal))
  }
}
