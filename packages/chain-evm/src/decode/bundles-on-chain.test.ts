/** Payments inside bundles that a chain executed: who named the integration is told by the logs around them. */
import { type Address, concat, encodeFunctionData, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundle, type EntryPointVersion, type TestOperation } from '../../test/bundles.js'
import { forwarder, testEntryPoint } from '../../test/contracts.generated.js'
import { type ConversionChain, emits, openConversionChain, payment } from '../../test/conversion-chain.js'
import { encodeIntegrationSuffix } from './integrations.js'

const [shop, cafe, bundler]: Address[] = ['0a', '0b', '0c'].map((byte): Address => `0x${byte.repeat(20)}`)

let chain: ConversionChain
let entryPoint: Address
let alice: Address
let bob: Address

beforeAll(async () => {
  chain = await openConversionChain()
  entryPoint = await chain.node.deploy(testEntryPoint)
  alice = await chain.node.deploy(forwarder)
  bob = await chain.node.deploy(forwarder)
})
afterAll(() => chain?.close())

const suffixed = (data: Hex, who: Address | undefined): Hex =>
  who === undefined ? data : concat([data, encodeIntegrationSuffix(who)])
/** An operation whose account makes the router report payments of these amounts, as sent by anybody it names. */
function pays(account: Address, who: Address | undefined, amounts: bigint[], sender: Address = account): TestOperation {
  const data = emits(...amounts.map((amount) => payment('0.6', amount, { sender })))
  const args = [chain.routerA, data] as const
  return {
    sender: account,
    callData: suffixed(encodeFunctionData({ abi: forwarder.abi, functionName: 'forward', args }), who),
  }
}
async function named(to: Address, data: Hex) {
  const { blockNumber } = await chain.node.execute({ to, data })
  const payments = await chain.read(blockNumber, '0.6')
  return payments.map(({ integrationAddress, tokenOut }) => [tokenOut.gross, integrationAddress])
}

describe.each<EntryPointVersion>(['0.6', '0.7'])('a bundle of EntryPoint %s', (version) => {
  test('gives each payment the integration of its own operation', async () => {
    const data = bundle(version, [pays(alice, shop, [10n, 11n]), pays(bob, cafe, [12n]), pays(alice, undefined, [13n])])
    expect(await named(entryPoint, suffixed(data, bundler))).toEqual([
      [10n, shop],
      [11n, shop],
      [12n, cafe],
      [13n, null],
    ])
  })

  test('skips an operation that reverted', async () => {
    const reverts = { sender: alice, callData: '0x12345678' as Hex }
    const data = bundle(version, [reverts, pays(bob, cafe, [12n])])
    expect(await named(entryPoint, data)).toEqual([[12n, cafe]])
  })
})
