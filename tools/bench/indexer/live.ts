/** Measures the time from a block to the database, and to the receiver. @module */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPayer, deployDevRouter, startAnvil } from '@payment-integration/chain-evm/dev'
import { openService, readConfig } from '@payment-integration/server/service'
import { masterKey, openDatabase } from '../databases.js'
import { type Cell, median, round, type Table } from '../report.js'
import { createRpc, integrationAddress } from './chain.js'

/** How the head is followed. */
interface Way {
  readonly name: string
  readonly pollMs: number
  readonly hasWebSocket: boolean
}

const ways: readonly Way[] = [
  { name: 'WebSocket subscription', pollMs: 1_000, hasWebSocket: true },
  { name: 'polling every 250 ms', pollMs: 250, hasWebSocket: false },
]

/** Mines `blocks` blocks of one payment each for every way. */
export async function benchLive(blocks: number): Promise<Table[]> {
  const summarize = (times: readonly number[]) => {
    const sorted = times.toSorted((a, b) => a - b)
    return [round(median(sorted), 1), round(sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN, 1)]
  }
  const floor = summarize(await measureFloor(blocks))
  const rows: Cell[][] = [['floor: mine, read header and receipts', ...floor, null, null]]
  for (const way of ways) {
    const times = await follow(way, blocks)
    const committed = times.map((each) => each.committed)
    const received = times.map((each) => each.received)
    rows.push([way.name, ...summarize(committed), ...summarize(received)])
  }
  return [
    {
      title: 'From the request to mine a block, one payment each, SQLite',
      columns: ['head', 'committed, p50 ms', 'committed, p95 ms', 'at the receiver, p50 ms', 'at the receiver, p95 ms'],
      rows,
    },
  ]
}

/** Blocks that establish the subscription and warm up the code. */
const warmUps = 10

interface Times {
  readonly committed: number
  readonly received: number
}

/** Starts a node that mines on demand. */
async function startNode() {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  const rpc = createRpc(anvil.rpcUrl)
  const mine = () => rpc([['evm_mine', []]])
  const mining = setInterval(() => void mine(), 50)
  const deployment = await deployDevRouter(anvil)
  const payer = createPayer({ ...anvil, deployment })
  const pay = (memo: string) =>
    payer.pay({ integrationAddress, receiver: `0x${'e1'.repeat(20)}`, amount: 1_000_000n, memo })
  await pay('mints and approves, too')
  clearInterval(mining)
  await mine()
  return { anvil, rpc, mine, pay, deployment }
}

/** The times of a reader that knows when the block is mined, proves nothing and stores nothing. */
async function measureFloor(blocks: number): Promise<number[]> {
  const { anvil, rpc, mine, pay } = await startNode()
  const times: number[] = []
  for (let nth = -warmUps; nth < blocks; nth += 1) {
    await pay(`order ${nth}`)
    const startedAt = performance.now()
    await mine()
    const [header] = await rpc([['eth_getBlockByNumber', ['latest', false]]])
    await rpc([['eth_getBlockReceipts', [(header as { number: string }).number]]])
    if (nth >= 0) times.push(performance.now() - startedAt)
  }
  await anvil.stop()
  return times
}

async function follow({ pollMs, hasWebSocket }: Way, blocks: number): Promise<Times[]> {
  const { anvil, mine, pay, deployment } = await startNode()
  const database = await openDatabase('SQLite')

  const timesByStep = { committed: new Map<string, number>(), received: new Map<string, number>() }
  const marks = new EventTarget()
  const mark = (what: keyof typeof timesByStep, txHash: string) => {
    timesByStep[what].set(txHash, performance.now())
    marks.dispatchEvent(new Event(`${what} ${txHash}`))
  }
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      mark('received', (JSON.parse(Buffer.concat(chunks).toString()) as { txHash: string }).txHash)
      response.writeHead(200).end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const { chainId, rpcUrl } = anvil
  const config = readConfig({
    PI_ENV: 'development',
    PI_DATABASE_URL: database.url,
    PI_MASTER_KEY: masterKey,
    PI_LOG_LEVEL: 'error',
    [`PI_RPC_URL_${chainId}`]: rpcUrl,
    [`PI_ROUTERS_${chainId}`]: `${deployment.router.address}@${deployment.router.version}`,
    [`PI_POLL_MS_${chainId}`]: String(pollMs),
    ...(hasWebSocket ? { [`PI_HEADS_URL_${chainId}`]: rpcUrl.replace('http', 'ws') } : {}),
  })
  const { service, close } = await openService(config, {
    onEvent: (event) => {
      if (event.type === 'payment.indexed') mark('committed', event.txHash)
    },
  })
  const notificationUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  await service.integrations.create({ address: integrationAddress, notificationUrl })
  const stop = new AbortController()
  const running = service.run(stop.signal)
  const times: Times[] = []
  try {
    for (let nth = -warmUps; nth < blocks; nth += 1) {
      const txHash = await pay(`order ${nth}`)
      // Spread evenly between two polls.
      await new Promise((resolve) => setTimeout(resolve, 20 + (((nth + warmUps) * 37) % 250)))
      const arrived = once(marks as never, `received ${txHash}`)
      const startedAt = performance.now()
      await mine()
      if (!timesByStep.received.has(txHash)) await arrived
      const at = (what: keyof typeof timesByStep) => (timesByStep[what].get(txHash) ?? Number.NaN) - startedAt
      if (nth >= 0) times.push({ committed: at('committed'), received: at('received') })
    }
  } finally {
    stop.abort()
    await running
    await close()
    receiver.closeAllConnections()
    receiver.close()
    await database.end()
    await anvil.stop()
  }
  return times
}
