/** A real chain with two listed routers that emit the events which a test plans, of any version. @module */
import { type Address, encodeFunctionData, type Hex, pad } from 'viem'
import type { EvmChainOptions } from '../src/evm-chain.js'
import { createEvmChain } from '../src/evm-chain.js'
import type { QuarantinedLog } from '../src/read/range-reader.js'
import { forwarder, testRouter } from './contracts.generated.js'
import { useFront } from './front.js'
import { readAll } from './read-all.js'
import { chainFeed, type EmittedLog, eventLog, noFeed, payingCall, zeroAddress } from './router-logs.js'
import { payer, receiver, useTestChain } from './test-chain.js'

/** A listed token without code. */
export const usdc: Address = '0x00000000000000000000000000000000000000c1'
export const memo = pad('0x01', { size: 32 })
export const chfUsd: Address = '0x00000000000000000000000000000000000000f1'
export const usdcUsd: Address = '0x00000000000000000000000000000000000000f3'
/** 1.25 USD per CHF, 0.5 USD per USDC, with 8 decimals. */
const rates = new Map([
  [chfUsd, 125_000_000n],
  [usdcUsd, 50_000_000n],
])
const getRate = (feed: Address) => rates.get(feed) ?? 0n

const feed = (address: Address, base: string) => ({ address, base, quote: 'USD', decimals: 8 })

/** A payment event with a fee of 1 unit, since without fees late versions emit the same event for a deposit. */
export function payment(version: string, amount: bigint, changes: Readonly<Record<string, unknown>> = {}): EmittedLog {
  const name = Number(version) < 0.3 ? 'Payment' : 'Yodl'
  return eventLog(version, name, { sender: payer, receiver, token: usdc, amount, fees: 1n, memo, ...changes })
}

/** A conversion event: before 0.6 a lone feed comes first, later it has its own position. */
export function convert(version: string, first: Address | null, second: Address | null): EmittedLog {
  const [used, other] = [first, second].filter((feed) => feed !== null)
  if (used === undefined) throw new Error('no feed')
  if (Number(version) < 0.3) return eventLog(version, 'Convert', { priceFeed: used, exchangeRate: getRate(used) })
  const inPlace = Number(version) >= 0.6
  return eventLog(version, 'Convert', {
    priceFeed0: inPlace ? (first ?? zeroAddress) : used,
    priceFeed1: inPlace ? (second ?? zeroAddress) : (other ?? zeroAddress),
    exchangeRate0: getRate(used),
    exchangeRate1: other === undefined ? 0n : getRate(other),
  })
}

/** The price feed argument of a call of the version. */
export function feedArgument(version: string, first: Address | null, second: Address | null): unknown {
  if (version === '0.1') return [first]
  if (Number(version) < 0.6) return [first ?? zeroAddress, second ?? zeroAddress]
  return [first, second].map((feed) => (feed === null ? noFeed : chainFeed(feed)))
}

/** Makes a test router emit logs. */
export const emits = (...logs: EmittedLog[]): Hex =>
  encodeFunctionData({ abi: testRouter.abi, functionName: 'emitLogs', args: [logs] })

/** Opens the chain, which stops after the tests of the file. Router B is not listed. */
export async function openConversionChain() {
  const node = await useTestChain()
  const front = await useFront(node.rpcUrl)
  const routerA = await node.deploy(testRouter)
  const routerB = await node.deploy(testRouter)
  const wallet = await node.deploy(forwarder)
  const quarantined: QuarantinedLog[] = []
  const plan = (...logs: EmittedLog[]) => node.call(testRouter, routerA, 'planLogs', [logs])

  /** Plans the events of router A, and sends it a call. */
  async function call(data: Hex, ...logs: EmittedLog[]): Promise<number> {
    await plan(...logs)
    const { blockNumber } = await node.execute({ to: routerA, data })
    await plan()
    return blockNumber
  }
  return {
    ...{ node, front, routerA, wallet, routerB },
    /** The quarantined logs of the last `read`. */
    quarantined,
    call,
    /** Sends router A the call of its version that pays with tokens. */
    payDirectly(version: string, given: Readonly<Record<string, unknown>>, ...logs: EmittedLog[]): Promise<number> {
      const name = Number(version) < 0.3 ? 'payWithToken' : 'yodlWithToken'
      return call(payingCall(version, name, { memo, receiver, token: usdc, ...given }), ...logs)
    },
    /** Several calls in one transaction. */
    batch: (...calls: [Address, Hex][]) =>
      node.call(forwarder, wallet, 'forwardAll', [calls.map(([to, data]) => ({ to, data }))]),
    async read(height: number, version: string, options: Partial<EvmChainOptions> = {}) {
      quarantined.length = 0
      const chain = createEvmChain({
        ...{ requestTimeoutMs: 600_000, chainId: 31337, rpcUrl: front.url, routers: [{ address: routerA, version }] },
        tokens: [{ address: usdc, symbol: 'USDC', currency: 'USD' }],
        priceFeeds: [feed(chfUsd, 'CHF'), feed(usdcUsd, 'USDC')],
        onQuarantine: (log) => quarantined.push(log),
        ...options,
      })
      return (await readAll(chain, height, height)).payments
    },
  }
}
