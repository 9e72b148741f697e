/** Text from nodes and contracts takes time that grows with its length at most. @module */
import { expect, test } from 'vitest'
import { measureGrowth, testGrowth } from '../../../tools/scripts/growth.js'
import { oddToken, talkativeToken } from '../test/contracts.generated.js'
import { openProofChain } from '../test/proof-chain.js'
import { readAll } from '../test/read-all.js'
import {
  findEnclosingOperations,
  findLastOperationEnd,
  parseBundle,
  parseIntegrationSuffix,
} from './decode/integrations.js'
import { pairConversions } from './decode/pair-conversions.js'
import { parseRouterCall } from './decode/router-call.js'
import { classifyFault, parseDecimals, parseSymbol } from './prices/token-metadata.js'
import { loadKeccak } from './proof/keccak.js'
import { parseTransaction } from './rpc/answers.js'
import { createFailures, createRedactor, splitUrl } from './rpc/failures.js'
import { isHex, isLowerHex, isWord, lowercaseAddress, lowercaseHash, parseQuantity } from './rpc/hex.js'
import { formatNodeName } from './rpc/nodes.js'
import { decodeAnswer } from './rpc/wire.js'

await loadKeccak()

const fail = createFailures(1)
const string = `0x${'20'.padStart(64, '0')}${'f'.padEnd(8, 'f').padStart(64, '0')}`

testGrowth(
  {
    'the text of an error': createRedactor('https://user:k3y-of-the-node@rpc.nodes.example/v2/k3y-of-the-node'),
    'whose fault an error is': (message) => classifyFault({ ok: false, code: null, message }),
    'the name of a node': (text) => formatNodeName(text, 1),
    'the parts of a URL': splitUrl,
    hex: (text) =>
      [isHex, isLowerHex, isWord, lowercaseHash, lowercaseAddress, parseQuantity].map((read) => read(text)),
    'a symbol': parseSymbol,
    decimals: parseDecimals,
    'the suffix of calldata': parseIntegrationSuffix,
    'a bundle': (text) => parseBundle(text, 10_000),
    'a call of the router': (text) => parseRouterCall(text, '0.9'),
    'a transaction': (text) => parseTransaction({ hash: text, blockHash: text, input: text, value: text }, fail),
    'a parsed answer': (text) => decodeAnswer(JSON.parse(text), 1, 100),
  },
  {
    begins: [
      ...['0x', '0x1fad948c', '0xdbed18e0', '0xd33dda5c', string],
      ...['{"jsonrpc":"2.0","id":1,"result":', '[{"id":1,"error":'],
    ],
    parts: ['{"id":1,"result":1},', '"result":{},', '[{', '80218021', '0'.repeat(64)],
  },
)

// Logs are counted instead of their characters.
const topic = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
const entryPoint = '0x0000000071727de22e5e9d8baf0edac6f37da032'
const getLogs = (length: number) =>
  Array.from({ length: Math.ceil(length / 4) }, () => ({
    address: entryPoint,
    topics: [topic, topic, `0x${'0'.repeat(64)}`],
    data: '0x',
  }))

test('time grows with the number of logs for the operations that payments belong to', async () => {
  const sender = `0x${'0'.repeat(40)}`
  const growth = await measureGrowth((length) => {
    const logs = getLogs(length)
    const places = [...logs.keys()]
    const operations = logs.map(() => ({ sender, callData: '0x' }))
    return () => [findEnclosingOperations(logs, places, entryPoint, operations), findLastOperationEnd(logs)]
  })
  expect(growth).toBeNull()
})

test('time grows with the number of logs for the conversion of a payment', async () => {
  const conversion = { router: entryPoint, event: { kind: 'conversion', steps: [], isForgeable: true } } as const
  const growth = await measureGrowth((length) => {
    const emitted = Array.from({ length: Math.ceil(length / 4) }, () => conversion)
    return () => pairConversions(emitted, null)
  })
  expect(growth).toBeNull()
})

// A token contract whose calls revert with very long reasons, paid through the router.
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
