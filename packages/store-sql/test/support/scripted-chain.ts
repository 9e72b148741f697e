import { createHash } from 'node:crypto'
import type { BlockRef, PaymentFacts } from '@payment-integration/core/ports'
import { type FakePayment, fakeChain } from '../../../core/test/support/fake-chain.js'

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
export const makeTxHash = (tx: string) => hex(`tx ${tx}`, 32)

/** A chain whose payments have realistic values. What is mined after a drop is another branch. */
export function scriptedChain(chainId: number, startTime = 1_700_000_000_000) {
  const chain = fakeChain(chainId, (height) => startTime + height * 1_000)
  chain.routers = [hex('router', 20)]

  function getPayment({ tx, to, ...given }: ScriptedPayment): FakePayment {
    const txHash = makeTxHash(tx)
    const receiver = given.receiver ?? hex('receiver', 20)
    const tokenOut = { address: hex('token', 20), symbol: 'USDC', decimals: 6, gross: 10_000_000n, net: 9_980_000n }
    return {
      name: tx,
      txHash,
      router: { address: hex('router', 20), version: '0.8' },
      sender: hex('sender', 20),
      memoHex: `0x${Buffer.from(tx).toString('hex').padEnd(64, '0')}`,
      integrationAddress: null,
      source: { chainId, txHash },
      tokenIn: { address: hex('token', 20), symbol: 'USDC', decimals: 6, amount: 10_000_000n },
      tokenOut,
      pricing: { listedToken: null, feeds: [], calledAmount: null, serviceFee: null },
      ...given,
      receiver,
      ...(to !== undefined && {
        deposit: {
          ...{ bridge: 'across', depositId: BigInt(txHash.slice(0, 18)).toString(), destinationChainId: to, receiver },
          output: { token: tokenOut.address, amount: tokenOut.net },
        },
      }),
    }
  }

  return {
    chain,
    mine(payments: readonly ScriptedPayment[] = []): BlockRef {
      chain.mine(1, () => payments.map(getPayment))
      return chain.at(chain.height())
    },
    drop(count: number) {
      chain.drop(count)
      chain.fork(0)
    },
  }
}
