/** Reads the payments of a real chain without product code. @module */
import { decodeAbiParameters, type Hex, parseAbiParameters, toEventSelector } from 'viem'
import { keyOf, type LastingFacts, type TrueFacts } from '../world/truth.js'
import type { AnvilChain, SignedPayment } from './anvil-chain.js'

const payment = toEventSelector('Yodl(address,address,address,uint256,uint256,bytes32)')
const notIndexed = parseAbiParameters('address token, uint256 amount, uint256 fees, bytes32 memo')

interface NodeLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockNumber: Hex
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly logIndex: Hex
}

/** Every payment from a height on, by key. Each payer pays once per transaction, so every ordinal is 0. */
export async function realPayments(
  chain: AnvilChain,
  from: number,
  signed: ReadonlyMap<string, SignedPayment>,
): Promise<Map<string, TrueFacts>> {
  const filter = {
    fromBlock: `0x${from.toString(16)}`,
    toBlock: 'latest',
    address: chain.router.address,
    topics: [payment],
  }
  const logs = await chain.rpc<NodeLog[]>('eth_getLogs', filter)
  const facts = new Map<string, TrueFacts>()
  const times = new Map<string, number>()
  for (const log of logs) {
    const [, sender = '', receiver = ''] = log.topics
    const [token, amount, fees, memo] = decodeAbiParameters(notIndexed, log.data)
    if (!times.has(log.blockHash)) {
      const block = await chain.rpc<{ readonly timestamp: Hex }>('eth_getBlockByHash', log.blockHash, false)
      times.set(log.blockHash, Number(block.timestamp) * 1000)
    }
    const named = { address: token.toLowerCase(), symbol: 'ETH', decimals: 18 }
    const fact: TrueFacts = {
      txHash: log.transactionHash,
      ordinal: 0,
      router: chain.router,
      sender: addressIn(sender),
      receiver: addressIn(receiver),
      memoHex: memo,
      integrationAddress: signed.get(log.transactionHash)?.integration ?? null,
      tokenIn: { ...named, amount },
      tokenOut: { ...named, gross: amount, net: amount - fees },
      logIndex: Number(log.logIndex),
      blockNumber: Number(log.blockNumber),
      blockHash: log.blockHash,
      blockTimestamp: times.get(log.blockHash) ?? 0,
    }
    facts.set(keyOf(fact), fact)
  }
  return facts
}

function addressIn(topic: string): string {
  return `0x${topic.slice(-40)}`
}

/** Payments of any branch: their payer, and the integration that they name. */
export function everSigned(
  signed: ReadonlyMap<string, SignedPayment>,
): (key: string) => Partial<LastingFacts> | undefined {
  return (key) => {
    const [txHash = '', ordinal] = key.split('/')
    const known = signed.get(txHash)
    if (known === undefined || ordinal !== '0') return undefined
    return { txHash, ordinal: 0, sender: known.from, integrationAddress: known.integration }
  }
}
