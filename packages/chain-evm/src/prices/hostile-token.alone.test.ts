/** A token contract whose calls revert with very long reasons, paid through the router. @module */
import { expect, test } from 'vitest'
import { measureGrowth } from '../../../../tools/scripts/growth.js'
import { oddToken, talkativeToken } from '../../test/contracts.generated.js'
import { openProofChain } from '../../test/proof-chain.js'
import { readAll } from '../../test/read-all.js'

const { node, open, payIn } = await openProofChain()

test('a payment in a token that reverts with 60,000 or a million characters is read, and the next one too', async () => {
  const first = await payIn(await node.deploy(talkativeToken, [60_000n]))
  await payIn(await node.deploy(talkativeToken, [1_000_000n]))
  const honest = await payIn(await node.deploy(oddToken, ['0x', `0x${'6'.padStart(64, '0')}`]))
  const { payments } = await readAll(open(), first, honest)
  expect(payments.map(({ tokenOut: { symbol, decimals } }) => ({ symbol, decimals }))).toEqual([
    { symbol: null, decimals: 0 },
    { symbol: null, decimals: 0 },
    { symbol: null, decimals: 6 },
  ])
})

test("processor time grows no faster than the reason of a token's revert", async () => {
  const growth = await measureGrowth(async (length) => {
    const height = await payIn(await node.deploy(talkativeToken, [BigInt(length)]))
    return () => readAll(open(), height, height)
  })
  expect(growth).toBeNull()
})
