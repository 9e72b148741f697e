import { createHash } from 'node:crypto'
import type { BlockRef, BridgeDeposit, Chain, PaymentFacts } from '@payment-integration/core/ports'

/** The fields of a payment that a test sets; all others have a default. */
export interface ScriptedPayment
  extends Partial<Pick<PaymentFacts, 'sender' | 'receiver' | 'memoHex' | 'integrationAddress' | 'tokenIn'>> {
  readonly tx: string
  readonly ordinal?: number
  /** The chain that a bridge carries it to: it is a deposit then. */
  readonly to?: number
}

export const hex = (text: string, bytes: number) =>
  `0x${createHash('sha512')
    .update(text)
    .digest('hex')
    .slice(0, bytes * 2)}`
export const txHashOf = (tx: string) => hex(`tx ${tx}`, 32)

/** A fake of the chain port over a list of blocks that the test writes. */
export function scriptedChain(chainId: number, startTime = 1_700_000_000_000) {
  let blocks: { ref: BlockRef; payments: PaymentFacts[]; deposits: BridgeDeposit[] }[] = []

  function mine(payments: readonly ScriptedPayment[] = [], branch = 'main'): BlockRef {
    const number = blocks.length
    const parentHash = blocks.at(-1)?.ref.hash ?? hex('genesis', 32)
    const ref = { number, hash: hex(`${parentHash} ${branch}`, 32), parentHash, timestamp: startTime + number * 1_000 }
    const stays: PaymentFacts[] = []
    const deposits: BridgeDeposit[] = []
    payments.forEach((given, index) => {
      const payment = facts(given, index, ref)
      if (given.to === undefined) stays.push(payment)
      else deposits.push(depositOf(payment, given.to))
    })
    blocks.push({ ref, payments: stays, deposits })
    return ref
  }

  function facts(payment: ScriptedPayment, logIndex: number, ref: BlockRef): PaymentFacts {
    const txHash = txHashOf(payment.tx)
    return {
      chainId,
      txHash,
      ordinal: payment.ordinal ?? 0,
      logIndex,
      blockNumber: ref.number,
      blockHash: ref.hash,
      blockTimestamp: ref.timestamp,
      router: { address: hex('router', 20), version: '0.8' },
      sender: payment.sender ?? hex('sender', 20),
      receiver: payment.receiver ?? hex('receiver', 20),
      memoHex: payment.memoHex ?? `0x${Buffer.from(payment.tx).toString('hex').padEnd(64, '0')}`,
      integrationAddress: payment.integrationAddress ?? null,
      source: { chainId, txHash },
      tokenIn: payment.tokenIn ?? { address: hex('token', 20), symbol: 'USDC', decimals: 6, amount: 10_000_000n },
      tokenOut: { address: hex('token', 20), symbol: 'USDC', decimals: 6, gross: 10_000_000n, net: 9_980_000n },
      pricing: { listedToken: null, feeds: [], calledAmount: null, serviceFee: null },
    }
  }

  const depositOf = (payment: PaymentFacts, destinationChainId: number): BridgeDeposit => ({
    payment,
    bridge: 'across',
    depositId: BigInt(payment.txHash.slice(0, 18)).toString(),
    destinationChainId,
    receiver: payment.receiver,
    output: { token: payment.tokenOut.address, amount: payment.tokenOut.net },
  })

  const at = (number: number) => {
    const block = blocks[number]
    if (block === undefined) throw new Error(`no block ${number}`)
    return block
  }
  const chain: Chain = {
    chainId,
    head: async () => at(blocks.length - 1).ref,
    block: async (number) => blocks[number]?.ref ?? null,
    routers: [hex('router', 20)],
    async *ranges({ from, to }) {
      const read = blocks.slice(from, to + 1)
      yield {
        first: at(from).ref,
        last: at(to).ref,
        blocks: read.map(({ ref }) => ref),
        payments: read.flatMap(({ payments }) => payments),
        deposits: read.flatMap(({ deposits }) => deposits),
        proof: 'root',
        endpoint: 'script',
      }
    },
    watch: async () => undefined,
    endpoints: () => [],
    transactionFate: async () => ({ fate: 'unknown', blockNumber: null }),
  }
  /** Drops the newest blocks, as a reorganisation does before the other branch is mined. */
  const drop = (count: number) => {
    blocks = blocks.slice(0, -count)
  }
  mine()
  return { chain, mine, drop }
}
