/** A payment that leaves the chain through a bridge is a deposit and no payment of the chain. */
import type { ProofLevel } from '@payment-integration/core/ports'
import type { Address, Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { type Bridged, depositLog } from '../../test/across-logs.js'
import { testRouter } from '../../test/contracts.generated.js'
import { emits, memo, openConversionChain, payment, usdc } from '../../test/conversion-chain.js'
import { readAll } from '../../test/read-all.js'
import { type EmittedLog, noFeed, payingCall } from '../../test/router-logs.js'
import { payer, receiver } from '../../test/test-chain.js'
import { encodeIntegrationSuffix } from '../decode/integrations.js'
import { createEvmChain } from '../evm-chain.js'
import type { QuarantinedLog } from '../read/range-reader.js'

const shop: Address = `0x${'0a'.repeat(20)}`
const amount = 400n
const bridged: Bridged = {
  ...{ originChainId: 31337n, destinationChainId: 10n, depositId: 5n, depositor: payer, recipient: receiver },
  ...{ inputToken: usdc, inputAmount: amount, outputToken: `0x${'c2'.repeat(20)}`, outputAmount: 390n, message: '0x' },
}
const chain = await openConversionChain()
const pool = await chain.node.deploy(testRouter)
const stranger = await chain.node.deploy(testRouter)

const deposits = (changes: Partial<Bridged>): [Address, Hex] => [
  pool,
  emits(depositLog('FundsDeposited', { ...bridged, ...changes })),
]
const pays = (changes: Readonly<Record<string, unknown>> = {}): [Address, Hex] => [
  chain.routerA,
  emits(payment('0.8', amount, { fees: 0n, ...changes })),
]

async function read(height: number, proof: ProofLevel) {
  const quarantined: QuarantinedLog[] = []
  const evm = createEvmChain({
    ...{ chainId: 31337, rpcUrl: chain.node.rpcUrl, routers: [{ address: chain.routerA, version: '0.8' }] },
    ...{ spokePools: [pool], proof, onQuarantine: (log: QuarantinedLog) => quarantined.push(log) },
    requestTimeoutMs: 600_000,
  })
  const { payments, deposits } = await readAll(evm, height, height, { head: height + 1_000 })
  evm.close()
  return { payments, deposits, quarantined }
}

const acrossCall = (version: string) =>
  payingCall(version, 'yodlWithAcross', { memo, receiver, token: usdc, amount, priceFeeds: [noFeed, noFeed] })

/** A call of the router that deposits into a bridge, which emits `log` unless it is null, and reports the payment. */
async function bridge(version: string, deposit: [Address, EmittedLog] | null, data?: Hex) {
  const [to, log] = deposit ?? [stranger, null]
  await chain.node.call(testRouter, chain.routerA, 'planBridge', [to, log === null ? emits() : emits(log)])
  const height = await chain.call(data ?? acrossCall(version), payment(version, amount, { fees: 0n }))
  await chain.node.call(testRouter, chain.routerA, 'planBridge', [`0x${'00'.repeat(20)}`, '0x'])
  return height
}

const proofs: ProofLevel[] = ['root', 'bloom', 'none']
describe.each(proofs)('with proof %s', (proof) => {
  test('yodlWithAcross is a deposit, with the payment of the source chain', async () => {
    const call = acrossCall('0.8')
    const suffix = encodeIntegrationSuffix(shop)
    const height = await bridge('0.8', [pool, depositLog('V3FundsDeposited', bridged)], `${call}${suffix.slice(2)}`)
    const result = await read(height, proof)
    expect(result.payments).toEqual([])
    expect(result.quarantined).toEqual([])
    const token = { address: usdc, symbol: null, decimals: 0 }
    expect(result.deposits).toMatchObject([
      {
        ...{ bridge: 'across', depositId: '5', destinationChainId: 10, receiver },
        output: { token: bridged.outputToken, amount: 390n },
        payment: {
          ...{ chainId: 31337, ordinal: 0, sender: payer, receiver, memoHex: memo, integrationAddress: shop },
          tokenIn: { ...token, amount },
          tokenOut: { ...token, gross: amount, net: amount },
          pricing: { listedToken: null, feeds: [], calledAmount: null, serviceFee: null },
        },
      },
    ])
    expect(result.deposits[0]?.payment.source.txHash).toBe(result.deposits[0]?.payment.txHash)
  })

  test('yodlWithAcross without a deposit is quarantined', async () => {
    const result = await read(await bridge('0.8', null), proof)
    expect([result.payments, result.deposits]).toEqual([[], []])
    expect(result.quarantined).toMatchObject([{ reason: 'a bridge call without a deposit into a listed bridge' }])
  })

  test('two deposits and a payment of one transaction keep their numbers', async () => {
    const second = { depositId: 6n, outputAmount: 1n }
    const { blockNumber } = await chain.batch(
      ...[deposits({ depositor: chain.wallet }), pays({ sender: chain.wallet })],
      pays({ fees: 1n }),
      ...[deposits({ ...second, depositor: chain.wallet }), pays({ sender: chain.wallet })],
    )
    const result = await read(blockNumber, proof)
    expect(result.payments.map(({ ordinal }) => ordinal)).toEqual([1])
    expect(result.deposits.map(({ depositId, payment: { ordinal } }) => [depositId, ordinal])).toEqual([
      ['5', 0],
      ['6', 2],
    ])
  })
})
