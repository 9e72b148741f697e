/** A server on a feed of a real chain, over a real nats-server with TLS and nkeys. */
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger as quiet, systemClock } from '@payment-integration/core'
import { encodeFunctionData } from 'viem'
import { describe, expect, onTestFinished, test } from 'vitest'
import { nativeTokenAddress } from '../../chain-evm/src/decode/router-decoder.js'
import { devRouter } from '../../chain-evm/src/dev/contracts.generated.js'
import { testRouter } from '../../chain-evm/test/contracts.generated.js'
import { startTestChain } from '../../chain-evm/test/test-chain.js'
import { natsMissing, startNats } from '../../chain-feed/test/nats-server.js'
import { createNkey } from '../../chain-feed/test/nkey.js'
import { readFeedPublisherConfig } from '../src/config/read-config.js'
import { openService, readConfig } from '../src/exports/service.js'
import { openChainFeed } from '../src/run/open-chain.js'
import { publishFeed } from '../src/run/publish-feed.js'

const opensslMissing =
  spawnSync('openssl', ['version']).status === 0 ? null : 'openssl is not installed: apt-get install openssl'
const missing = natsMissing ?? opensslMissing

const masterKey = randomBytes(32).toString('hex')
const receiver = '0x00000000000000000000000000000000000000b2'
/** The feed is used only if both sides name these SpokePools. */
const settings = { PI_POLL_MS_31337: '50', PI_SPOKE_POOLS_31337: `0x${'5a'.repeat(20)}` }
/** Blocks of anvil are a second apart: mined faster, they are ahead of the clock, and the feed seems late. */
const waiting = { timeout: 120_000, interval: 500 }

describe.skipIf(missing)(`a server on the feed${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  test('indexes a payment from the blocks of a publisher, over TLS, with credentials that may only read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'server-feed-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text, { mode: 0o600 })
      return join(folder, name)
    }
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'ca.pem')]
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, '-days', '2']
    execFileSync('openssl', [...made, ...subject], { stdio: 'ignore' })
    const [publisher, cell] = [createNkey(), createNkey()]
    const nats = await startNats({
      more: `
        tls { cert_file: "${certificate}", key_file: "${key}" }
        authorization { users: [
          { nkey: ${publisher.user}, permissions: {
            publish: ["pi.feed.*.*", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.CREATE.*", "$JS.API.STREAM.MSG.GET.*"]
            subscribe: ["_INBOX.>"] } }
          { nkey: ${cell.user}, permissions: {
            publish: ["$JS.API.STREAM.MSG.GET.*"], subscribe: ["pi.feed.*.*", "_INBOX.>"] } }
        ] }`,
    })
    onTestFinished(() => nats.remove())
    const node = await startTestChain()
    onTestFinished(() => node.stop())
    // The blocks of a test chain begin years ago, and a feed that old is not used.
    await node.rpc('evm_setNextBlockTimestamp', Math.floor(Date.now() / 1_000))
    const router = await node.deploy(devRouter, [receiver])
    const chain = { PI_RPC_URL_31337: node.rpcUrl, PI_ROUTERS_31337: `${router}@0.8`, ...settings }
    const feed = {
      PI_CHAIN_FEED_URL: nats.urls.map((url) => url.replace('nats://127.0.0.1', 'tls://localhost')).join(),
      PI_CHAIN_FEED_CA_FILE: certificate,
    }
    const args = [`0x${'00'.repeat(32)}`, 5n, nativeTokenAddress, receiver] as const
    const data = encodeFunctionData({ abi: devRouter.abi, functionName: 'pay', args })
    await node.execute({ to: router, data, value: 5n })

    const stop = new AbortController()
    const publishing = publishFeed(
      readFeedPublisherConfig({ ...chain, ...feed, PI_CHAIN_FEED_CREDENTIALS_FILE: file('p', publisher.seed) }),
      stop.signal,
      { replicas: 1, maxBytes: 10_000_000, logger: quiet },
    )
    const opened = await openService(
      readConfig({
        ...{ ...chain, ...feed, PI_MASTER_KEY: masterKey, PI_START_BLOCK_31337: '0' },
        PI_CHAIN_FEED_CREDENTIALS_FILE: file('c', cell.seed),
        PI_DATABASE_URL: `sqlite:${join(folder, 'payments.db')}`,
      }),
      { logger: quiet },
    )
    onTestFinished(() => opened.close())
    const running = opened.service.run(stop.signal)
    const status = () => opened.service.indexers[0]?.status()
    await expect
      .poll(async () => {
        await node.mine()
        return status()?.nodes[0]
      }, waiting)
      .toMatchObject({ name: 'feed', inUse: true })
    const { blockNumber } = await node.execute({ to: router, data, value: 5n })
    await expect.poll(() => status()?.indexed, waiting).toBeGreaterThanOrEqual(blockNumber)
    const payments = await opened.store.transaction((tx) => tx.paymentsInBlocks(31337, 0, 1_000_000))
    expect(payments.map((payment) => payment.blockNumber)).toContain(blockNumber)
    const proofs = await opened.store.chains.proofs(31337, 1_000)
    expect(proofs.map(({ node }) => node)).toContain('feed of 127.0.0.1 #1')
    stop.abort()
    await Promise.all([publishing, running])
  })

  test('the publisher reports a router log that is no payment', async () => {
    const nats = await startNats()
    onTestFinished(() => nats.remove())
    const node = await startTestChain()
    onTestFinished(() => node.stop())
    const router = await node.deploy(testRouter)
    await node.mine(100)
    const { hash } = await node.call(testRouter, router, 'emitMany', [1, receiver, nativeTokenAddress, 10, true])
    const warnings: object[] = []
    const logger = { ...quiet, warn: (fields: object) => void warnings.push(fields) }
    const stop = new AbortController()
    const chain = { PI_RPC_URL_31337: node.rpcUrl, PI_ROUTERS_31337: `${router}@0.6`, ...settings }
    const config = readFeedPublisherConfig({ ...chain, PI_CHAIN_FEED_URL: nats.urls.join() })
    const publishing = publishFeed(config, stop.signal, { replicas: 1, maxBytes: 10_000_000, logger })
    await expect
      .poll(() => warnings, waiting)
      .toContainEqual(expect.objectContaining({ chainId: 31337, txHash: hash, logIndex: 0 }))
    stop.abort()
    await publishing
  })
})

test('a feed of another machine without credentials is a warning at the start', async () => {
  const warned = async (server: string, credentialsFile: string | null = null) => {
    const warnings: unknown[] = []
    const logger = { ...quiet, warn: (_: object, message: string) => void warnings.push(message) }
    const config = { servers: ['nats://127.0.0.1:1', server], credentialsFile, caFile: null }
    await (await openChainFeed(config, { clock: systemClock, logger }))?.close()
    return warnings
  }
  const warning = [expect.stringContaining('PI_CHAIN_FEED_CREDENTIALS_FILE is not set')]
  for (const server of ['nats://nats-1.invalid:4222', 'nats://192.0.2.1:4222', 'nats://[2001:db8::1]:4222'])
    expect(await warned(server)).toEqual(warning)
  for (const server of ['nats://127.0.0.2:1', 'nats://localhost:1', 'nats://[::1]:1'])
    expect(await warned(server)).toEqual([])
  const folder = mkdtempSync(join(tmpdir(), 'server-feed-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const seed = join(folder, 'seed')
  writeFileSync(seed, createNkey().seed)
  expect(await warned('nats://nats-1.invalid:4222', seed)).toEqual([])
})
