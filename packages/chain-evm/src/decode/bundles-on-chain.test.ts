/** Payments inside bundles that a chain executed: who named the integration is told by the logs around them. */
import { type Address, concat, encodeFunctionData, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { bundle, type EntryPointVersion, type TestOperation } from '../../test/bundles.js'
import { forwarder, testEntryPoint } from '../../test/contracts.generated.js'
import { emits, openConversionChain, payment } from '../../test/conversion-chain.js'
import { encodeIntegrationSuffix } from './integrations.js'

const [shop, cafe, bundler]: Address[] = ['0a', '0b', '0c'].map((byte): Address => `0x${byte.repeat(20)}`)
const chain = await openConversionChain()
const entryPoint = await chain.node.deploy(testEntryPoint)
const alice = await chain.node.deploy(forwarder)
const bob = await chain.node.deploy(forwarder)

const suffixed = (data: Hex, who: Address | undefined): Hex =>
  who === undefined ? data : concat([data, encodeIntegrationSuffix(who)])
/** An operation whose account makes the router report payments of these amounts. */
function pays(account: Address, who: Address | undefined, ...amounts: bigint[]): TestOperation {
  const data = emits(...amounts.map((amount) => payment('0.6', amount, { sender: account })))
  const args = [chain.routerA, data] as const
  return {
    sender: account,
    callData: suffixed(encodeFunctionData({ abi: forwarder.abi, functionName: 'forward', args }), who),
  }
}

test.each<EntryPointVersion>(['0.6', '0.7'])(
  'a bundle of EntryPoint %s gives each payment the integration of its own operation, and skips a reverted one',
  async (version) => {
    const reverts = { sender: alice, callData: '0x12345678' as Hex }
    const operations = [pays(alice, shop, 10n, 11n), pays(bob, cafe, 12n), pays(alice, undefined, 13n)]
    const data = suffixed(bundle(version, [reverts, ...operations]), bundler)
    const { blockNumber } = await chain.node.execute({ to: entryPoint, data })
    const payments = await chain.read(blockNumber, '0.6')
    expect(payments.map(({ tokenOut, integrationAddress }) => [tokenOut.gross, integrationAddress])).toEqual([
      [10n, shop],
      [11n, shop],
      [12n, cafe],
      [13n, null],
    ])
  },
)
