/** Tokens as a node tells them that is behind, or that stands behind a gateway with nodes that are. */
import { type Address, encodeAbiParameters, getContractAddress, numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { oddToken } from '../../test/contracts.generated.js'
import { type FrontCall, type Item, passOn, rewriting } from '../../test/front.js'
import { openProofChain } from '../../test/proof-chain.js'
import { readAll } from '../../test/read-all.js'
import { payer } from '../../test/test-chain.js'
import type { EvmChain } from '../evm-chain.js'

const dai = [
  encodeAbiParameters([{ type: 'string' }], ['DAI']),
  encodeAbiParameters([{ type: 'uint256' }], [18n]),
] as const

const { node, front, open, payIn } = await openProofChain()

async function tokenOut(chain: EvmChain, height: number) {
  return (await readAll(chain, height, height)).payments[0]?.tokenOut
}

const ofState = (method: string) => method === 'eth_call' || method === 'eth_getCode'
const noState = ({ id }: Item) => ({ id, result: '0x' })

/** The answers of a node that stopped below `height`, where the token is not deployed yet. */
function behind(height: number) {
  return rewriting((item: Item, { method, params }: FrontCall) => {
    if (method === 'eth_getBlockByNumber' && params[0] === 'latest')
      return { ...item, result: { ...(item.result as object), number: numberToHex(height - 1) } }
    return ofState(method) ? noState(item) : item
  })
}

/** A gateway whose nodes disagree: state comes from one that is behind and does not know the height it is asked for. */
const splitGateway = rewriting((item, { method, params }) => {
  if (!ofState(method)) return item
  const error = { code: -32000, message: 'header not found' }
  return params.at(-1) === 'latest' ? noState(item) : { id: item.id, error }
})

test.each([
  ['batches', 100],
  ['single requests', 1],
])('an empty answer of a node that is behind is asked again, over %s', async (_, batchSize) => {
  const height = await payIn(await node.deploy(oddToken, dai))
  const chain = open({ batchSize })
  for (const lie of [behind(height), splitGateway]) {
    front.intercept = lie
    await expect(readAll(chain, height, height)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  }
  front.intercept = passOn
  expect(await tokenOut(chain, height)).toMatchObject({ symbol: 'DAI', decimals: 18 })
})

test.each([
  ['null', null],
  ['nonsense', 'soon'],
])('a newest block that is %s is no proof that the node is up to date', async (_, result) => {
  const height = await payIn(await node.deploy(oddToken, dai))
  front.intercept = rewriting((item, { method, params }) =>
    method === 'eth_getBlockByNumber' && params[0] === 'latest' ? { id: item.id, result } : item,
  )
  await expect(readAll(open(), height, height)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
})

test('code that is not hex does not prove an empty answer', async () => {
  const height = await payIn(await node.deploy(oddToken, ['0x', '0x']))
  front.intercept = rewriting((item, { method }) => (method === 'eth_getCode' ? { id: item.id, result: null } : item))
  await expect(readAll(open(), height, height)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
})

test('an address without code is read again only in later blocks', async () => {
  const nonce = BigInt(await node.rpc<string>('eth_getTransactionCount', payer, 'latest'))
  const token = getContractAddress({ from: payer, nonce: nonce + 1n }).toLowerCase() as Address
  const chain = open()
  const early = await payIn(token)
  expect(await tokenOut(chain, early)).toMatchObject({ address: token, symbol: null, decimals: 0 })
  expect((await front.during(() => readAll(chain, early, early))).flat()).not.toContain('eth_call')
  expect(await node.deploy(oddToken, dai)).toBe(token)
  expect(await tokenOut(chain, await payIn(token))).toMatchObject({ address: token, symbol: 'DAI', decimals: 18 })
})
