/** Nodes that leave out, make up or change answers, and unusual answers that are read all the same. */
import { describe, expect, test } from 'vitest'
import { type Item, passOn, rewriting } from '../../test/front.js'
import { openProofChain } from '../../test/proof-chain.js'
import { readAll } from '../../test/read-all.js'

interface Block {
  readonly number: string
  readonly hash: string
  readonly logsBloom: string
  readonly transactions: readonly string[]
}
interface Receipt {
  readonly blockHash: string
  readonly transactionHash: string
  readonly logs: readonly object[]
}

const chain = await openProofChain()
// Heights: a block with payments between empty ones, one without ours, one with many, and the end.
const from = await chain.node.mine()
const paid = await chain.block(1, 2)
const strange = await chain.strange()
const dense = await chain.block(1, 1, 1, 1, 1)
const to = await chain.node.mine(3)
/** Far above everything, so that nothing is near the head. */
const far = { head: 1_000_000 }

const emptyFilter = `0x${'00'.repeat(256)}`
const anyHash = `0x${'ab'.repeat(32)}`
const proofFailed = { name: 'ChainError', code: 'ERR_CHAIN_PROOF_FAILED', retryable: true, chainId: 31337 }
const rangeGone = { code: 'ERR_CHAIN_RANGE_GONE' }
const unavailable = { code: 'ERR_CHAIN_UNAVAILABLE' }
const getMethods = (requests: readonly (readonly string[])[]) => requests.flat()

describe.each([
  ['near the head', {}, 'root'],
  ['further back', far, 'bloom'],
] as const)('%s', (_, where, proof) => {
  const read = (options = {}) => readAll(chain.open(options), from, to, where)

  test('every payment is read, with all blocks in a row', async () => {
    const range = await read()
    expect(range.proof).toBe(proof)
    expect(range.node).toBe('127.0.0.1 #1')
    expect(range.blocks.map(({ number }) => number)).toEqual(heights(from, to))
    for (const [index, block] of range.blocks.entries())
      if (index > 0) expect(block.parentHash).toBe(range.blocks[index - 1]?.hash)
    expect(range.payments.map(({ blockNumber, logIndex, ordinal }) => [blockNumber, logIndex, ordinal])).toEqual([
      ...[0, 1, 2].map((logIndex) => [paid, logIndex, logIndex === 2 ? 1 : 0]),
      ...[0, 1, 2, 3, 4].map((logIndex) => [dense, logIndex, 0]),
    ])
  })

  test('the facts are those of a node’s own logs', async () => {
    const trusted = await readAll(chain.open({ proof: 'none' }), from, to, where)
    expect(trusted.proof).toBe('none')
    expect((await read()).payments).toEqual(trusted.payments)
    expect((await readAll(chain.open({ proof: 'root' }), from, to, where)).payments).toEqual(trusted.payments)
    expect((await read({ batchSize: 1 })).payments).toEqual(trusted.payments)
  })

  const withLogs = (change: (all: readonly object[]) => object[]) => (it: Receipt) => ({ ...it, logs: change(it.logs) })
  const data = `0x${'01'.repeat(128)}`
  const flaws: [string, (receipts: Receipt[]) => unknown][] = [
    ['without its last log', (all) => [...all.slice(0, -1), ...all.slice(-1).map(withLogs((logs) => logs.slice(1)))]],
    ['without its last receipt', (all) => all.slice(0, -1)],
    ['empty', () => []],
    ['with a receipt twice', (all) => [...all, ...all.slice(-1)]],
    ['in another order', (all) => [...all].reverse()],
    ['with another amount', (all) => all.map(withLogs((logs) => logs.map((log) => ({ ...log, data }))))],
    ['without filters', (all) => all.map((it) => ({ ...it, logsBloom: undefined }))],
  ]
  /** The front changes the receipts of blocks, and those by transaction. */
  const cut = (change: (receipts: Receipt[]) => unknown, single: (receipt: Receipt) => unknown = (it) => it) => {
    chain.front.intercept = rewriting((item, { method }) => {
      const { result } = item
      if (method === 'eth_getTransactionReceipt') return { ...item, result: single(result as Receipt) }
      if (method !== 'eth_getBlockReceipts' || (result as Receipt[]).length < 2) return item
      return { ...item, result: change(result as Receipt[]) }
    })
  }

  test.each(flaws)('receipts %s are rejected', async (_, change) => {
    cut(change, (it) => ({ ...it, logs: [] }))
    const lied = chain.open()
    await expect(readAll(lied, from, to, where)).rejects.toMatchObject(proofFailed)
    expect(lied.nodes()[0]?.failedProofs).toBeGreaterThan(0)
  })

  test.each(flaws)(
    'receipts %s of the only node are read again in one call, and then by transaction',
    async (_, change) => {
      const { payments } = await read()
      cut(change)
      const lied = chain.open()
      const requests = await chain.during(async () =>
        expect((await readAll(lied, from, to, where)).payments).toEqual(payments),
      )
      expect(lied.nodes()[0]?.failedProofs).toBe(4)
      expect(requests.filter((methods) => methods.join() === 'eth_getBlockReceipts')).toHaveLength(2)
      expect(getMethods(requests).filter((method) => method === 'eth_getTransactionReceipt')).toHaveLength(7)
    },
  )

  test('another node is used after a failed proof', async () => {
    chain.lie('eth_getBlockReceipts', (receipts: Receipt[]) => receipts.map((it) => ({ ...it, logs: [] })))
    const both = chain.open({ nodes: [{ url: chain.front.url }, { url: chain.other.url }] })
    const range = await readAll(both, from, to, where)
    expect(range.payments).toHaveLength(8)
    expect(range.node).toBe('127.0.0.1 #2')
    expect(both.nodes().map(({ failedProofs }) => failedProofs > 0)).toEqual([true, false])
  })

  test('hashes of transactions in another order contradict the header', async () => {
    chain.lie('eth_getBlockReceipts', (all: Receipt[]) => {
      const hashes = all.map(({ transactionHash }) => transactionHash).reverse()
      return all.map((it, index) => ({ ...it, transactionHash: hashes[index] }))
    })
    const lied = chain.open()
    await expect(readAll(lied, from, to, where)).rejects.toMatchObject(unavailable)
    expect(lied.nodes()[0]?.contradictions).toBeGreaterThan(0)
  })

  const at = (height: number, change: object | null) => (it: Block) =>
    Number(it.number) === height ? change && { ...it, ...change } : it
  const otherParent = at(dense, { parentHash: anyHash })
  test.each<[string, (it: Block) => object | null, object]>([
    ['is missing', at(dense, null), rangeGone],
    ['of its own kind does not follow the last', (it) => ({ ...otherParent(it), extraData: '0x1234' }), rangeGone],
    ['was changed and does not hash to its block any more', otherParent, proofFailed],
    ['has another time', at(paid, { timestamp: '0x7fffffff' }), proofFailed],
    ['is of another height', (it) => ({ ...it, number: '0x1' }), unavailable],
  ])('the range is rejected when a header %s', async (_, change, error) => {
    chain.lie('eth_getBlockByNumber', change)
    await expect(read()).rejects.toMatchObject(error)
  })

  test.each<[string, (it: Receipt) => unknown, object]>([
    ['are of another block', (it) => ({ ...it, blockHash: anyHash }), rangeGone],
    ['are no objects', () => 7, unavailable],
  ])('the range is rejected when receipts %s', async (_, change, error) => {
    chain.lie('eth_getBlockReceipts', (all: Receipt[]) => all.map(change))
    await expect(read()).rejects.toMatchObject(error)
  })

  const codes = Object.entries({ 'does not have the method': -32_601, 'does not answer it now': -32_000 })
  test.each(codes)('receipts are asked for one by one when the node %s', async (_, code) => {
    chain.front.intercept = rewriting((item, { method }) =>
      method === 'eth_getBlockReceipts' ? { id: item.id, error: { code, message: 'no' } } : item,
    )
    const opened = chain.open()
    expect((await readAll(opened, from, to, where)).payments).toHaveLength(8)
    const again = async () => expect((await readAll(opened, from, to, where)).proof).toBe(proof)
    const methods = getMethods(await chain.during(again))
    expect(methods.includes('eth_getBlockReceipts')).toBe(code === -32_000)
    expect(methods).toContain('eth_getTransactionReceipt')
  })

  test('a receipt that is gone between the requests means that the chain moved', async () => {
    chain.front.intercept = rewriting((item, { method }) => {
      if (method === 'eth_getTransactionReceipt') return { ...item, result: null }
      return method === 'eth_getBlockReceipts' ? { id: item.id, error: { code: -32_601, message: 'no' } } : item
    })
    await expect(read()).rejects.toMatchObject({ name: 'ChainError' })
  })

  test('the receipt of a state sync behind the others is left out, and so are its logs', async () => {
    const nobody = `0x${'00'.repeat(20)}`
    chain.lie('eth_getBlockReceipts', (all: Receipt[]) => {
      const [first] = all
      if (first === undefined) return all
      return [...all, { ...first, from: nobody, to: nobody, transactionHash: anyHash }]
    })
    expect((await read()).payments).toHaveLength(8)
  })

  test('upper-case answers change nothing', async () => {
    const expected = (await read()).payments
    const loud = (text: string) => text.replace(/0x[0-9a-f]{40,}/g, (hex) => `0x${hex.slice(2).toUpperCase()}`)
    chain.front.intercept = async ({ forward }) => loud(await forward())
    expect((await read()).payments).toEqual(expected)
  })
})

function heights(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

test('the receipts of a block near the head prove one header, and no other that is answered later', async () => {
  chain.front.intercept = async (request) => {
    const text = await request.forward()
    if (!request.methods.includes('eth_getBlockReceipts')) return text
    const isHeader = (index: number) => request.methods[index] === 'eth_getBlockByNumber'
    const items = (JSON.parse(text) as (Item & { result: object })[]).map((item, index) =>
      isHeader(index) ? { ...item, result: { ...item.result, extraData: '0x1234' } } : item,
    )
    const place = request.calls.findIndex(({ params }, index) => isHeader(index) && Number(params[0]) === paid)
    const header = items[place]
    const again = { ...header, result: { ...header?.result, receiptsRoot: anyHash } }
    return JSON.stringify([...items, again])
  }
  const lied = chain.open()
  await expect(readAll(lied, from, to)).rejects.toMatchObject({ code: 'ERR_CHAIN_PROOF_FAILED' })
  expect(lied.nodes()[0]?.failedProofs).toBeGreaterThan(0)
})

describe('the log filters of headers', () => {
  test('receipts are read only of blocks that may contain a payment, and no logs are requested', async () => {
    const opened = chain.open()
    await opened.head()
    const requests = await chain.during(() => readAll(opened, from, to, far))
    expect(requests[0]).toEqual(['eth_chainId', ...heights(from, to).map(() => 'eth_getBlockByNumber')])
    expect(requests[1]).toEqual(['eth_getBlockReceipts', 'eth_getBlockReceipts'])
    expect(getMethods(requests)).not.toContain('eth_getLogs')
  })

  test('a false positive stops nothing', async () => {
    const header = await chain.node.block(paid)
    chain.lie('eth_getBlockByNumber', (it: Block) => ({
      ...it,
      extraData: '0x1234',
      ...(Number(it.number) === strange ? { logsBloom: header.logsBloom } : {}),
    }))
    expect((await readAll(chain.open(), from, to, far)).payments).toHaveLength(8)
  })

  test.each(Object.entries({ 'near the head': {}, 'further back': far }))(
    'one that was emptied is rejected in a range of its own %s, once the chain’s headers are known',
    async (_, where) => {
      const opened = chain.open()
      await readAll(opened, from, to, where)
      chain.lie('eth_getBlockByNumber', (it: Block) => ({ ...it, logsBloom: emptyFilter }))
      await expect(readAll(opened, paid, paid, where)).rejects.toMatchObject(proofFailed)
      chain.front.intercept = passOn
      expect((await readAll(opened, paid, paid, where)).payments).toHaveLength(3)
    },
  )

  test.each([
    ['empty', emptyFilter, 'ERR_CHAIN_PROOF_FAILED'],
    ['missing', undefined, null],
  ] as const)('that are all %s by nature are noticed by the node’s own logs', async (_, logsBloom, code) => {
    chain.lie('eth_getBlockByNumber', (it: Block) => ({ ...it, logsBloom, extraData: '0x1234' }))
    const reading = readAll(chain.open(), from, to, far)
    if (code === null) expect((await reading).payments).toHaveLength(8)
    else await expect(reading).rejects.toMatchObject({ code, message: expect.stringContaining('proof to none') })
  })

  test('the first header of a known chain that does not hash to its block is rejected', async () => {
    chain.front.intercept = rewriting((item, { method }) => {
      if (method === 'eth_chainId') return { ...item, result: '0x1' }
      if (method !== 'eth_getBlockByNumber') return item
      return { ...item, result: { ...(item.result as Block), extraData: '0x1234' } }
    })
    const reading = readAll(chain.open({ chainId: 1 }), from, to, far)
    await expect(reading).rejects.toMatchObject({ ...proofFailed, chainId: 1 })
  })

  test('non-standard headers of another chain with honest filters are read', async () => {
    chain.lie('eth_getBlockByNumber', (it: Block) => ({ ...it, extraData: '0x1234' }))
    const requests = await chain.during(async () =>
      expect((await readAll(chain.open({ maxRange: 3 }), from, to, far)).payments).toHaveLength(8),
    )
    expect(getMethods(requests).filter((method) => method === 'eth_getLogs').length).toBeGreaterThan(1)
  })
})

describe('requests', () => {
  test('an empty block at the head costs one, and one with payments two', async () => {
    const opened = chain.open()
    await readAll(opened, from, to)
    const first = ['eth_chainId', 'eth_getBlockByNumber', 'eth_getBlockReceipts']
    expect(await chain.during(() => readAll(opened, to, to))).toEqual([first])
    const ofPayments = ['eth_getTransactionByHash', 'eth_getTransactionByHash']
    expect(await chain.during(() => readAll(opened, paid, paid))).toEqual([first, ofPayments])
  })

  test('a block that is full of payments is read whole instead of by transaction', async () => {
    const opened = chain.open()
    await readAll(opened, from, to)
    expect((await chain.during(() => readAll(opened, dense, dense)))[1]).toEqual(['eth_getBlockByNumber'])
  })

  test('a block that a reorg replaces before its transactions are read is gone', async () => {
    chain.lie('eth_getBlockByNumber', (it: { readonly transactions: readonly object[] }, { params }) =>
      params[1] === true
        ? { ...it, transactions: it.transactions.map((one: object) => ({ ...one, blockHash: anyHash })) }
        : it,
    )
    await expect(readAll(chain.open(), dense, dense)).rejects.toMatchObject(rangeGone)
    chain.lie('eth_getBlockByNumber', (it: Block, { params }) =>
      params[1] === true ? { ...it, transactions: [] } : it,
    )
    await expect(readAll(chain.open(), dense, dense)).rejects.toMatchObject(rangeGone)
  })
})
