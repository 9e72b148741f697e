/** Two cells on one chain, and a receiver, for tests of moving an integration. */
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startRecordingReceiver } from '../../../server/test/support/recording-receiver.js'
import { hex, makeTxHash, scriptedChain } from '../../../store-sql/test/support/scripted-chain.js'
import { createGzipFile } from '../../src/archive.js'
import { temporaryFolder } from '../temporary-folder.js'
import { type CellOptions, type Database, openCell } from './cell.js'

export const shop = hex('shop', 20)
/** A version of a payment. */
export const key = (version: number, tx: string) => `${tx}@${version}`
/** Two cells on one chain, and a receiver that answers 503 to the payments in `rejected`. They close with the test. */
export async function twoCells(from: Database, to: Database, options: CellOptions = {}) {
  let offset = 0
  const clock = { now: () => Date.now() + offset }
  const chain = scriptedChain(137)
  const source = await openCell(from, chain, clock)
  const target = await openCell(to, chain, clock, options)
  const receiver = await startRecordingReceiver()
  const folder = temporaryFolder()
  onTestFinished(async () => {
    for (const close of [receiver.stop, target.close, source.close]) await close()
  })
  const rejected = new Set<string>()
  const accepted: string[] = []
  receiver.answer = ({ body }, response) => {
    const text = String(body)
    const isRejected = rejected.has(JSON.parse(text).txHash as string)
    if (!isRejected) accepted.push(text)
    response.writeHead(isRejected ? 503 : 204).end()
  }
  const { apiSecret } = await source.service.integrations.create({ address: shop, notificationUrl: receiver.url })
  let files = 0
  async function payTo(integrationAddress: string, ...names: readonly string[]) {
    chain.mine(names.map((tx) => ({ tx, integrationAddress })))
    await Promise.all([source.index(), target.index()])
  }
  return {
    source,
    target,
    rejected,
    apiSecret,
    accepted,
    /** Accepted deliveries as `payment@version`, sorted. */
    keys: (names: readonly string[]) =>
      accepted
        .map((body) => JSON.parse(body) as { txHash: string; version: number })
        .map(({ txHash, version }) => key(version, names.find((name) => makeTxHash(name) === txHash) ?? txHash))
        .sort(),
    pass(ms: number) {
      offset += ms
    },
    pay: (...names: readonly string[]) => payTo(shop, ...names),
    payTo,
    async export() {
      files += 1
      const path = join(folder, `${files}.jsonl.gz`)
      const exported = await source.service.moves.export(shop, () => createGzipFile(path))
      return { path, ...exported }
    },
    update: (id: string, tx: string, change: object) => ({ id, chainId: '137', txHash: makeTxHash(tx), ...change }),
  }
}
