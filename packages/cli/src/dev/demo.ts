/** Starts all parts of a demo run. @module */
import { join } from 'node:path'
import { triggerPath } from '@payment-integration/contract/internal'
import { findingText, summaryText } from '../commands/doctor.js'
import { developmentTools, secretText, simulateChainsWith, startDemoIdentity } from '../development.js'
import { DemoError } from '../errors.js'
import { version } from '../files.js'
import { checkListening, forward } from '../forward.js'
import { findFrameworks } from '../input.js'
import type { Io } from '../io.js'
import { createStyle, logToStandardError, shortHash } from '../output.js'
import { startDemoChain } from './chain.js'
import type { PaymentPlan } from './clients.js'
import { accountHandle, buildLegacyExample, createComparison, createUpdateSender, setUpLegacy } from './clients.js'
import { devDefaults, type LegacyReadyEvent, type ReadyEvent } from './demo-events.js'
import { type Closers, createDemoFolder, findFreePort, openBrowser, startOnPort, writeEnvFile } from './machine.js'
import { type EventOrder, formatCommands } from './printer.js'
import { createRelay, type ReceiverAnswer, startDemoReceiver } from './receiver.js'
import { createPaymentTracker, watchService } from './watch.js'

export type Demo = Awaited<ReturnType<typeof startDemo>>

interface DemoSettings {
  readonly port: number | undefined
  readonly keepsFolder: boolean
  readonly seed: number
  readonly forwardTo: string | undefined
  /** Path of the file for an integrator's five values; null: none is written. */
  readonly envFile: string | null
  /** The start of the run in unix milliseconds. */
  readonly startedAt: number
  readonly io: Io
  readonly closers: Closers
  /** Prints the events of all parts, each payment's `sent` before its `indexed`. */
  readonly events: EventOrder
  readonly signal: AbortSignal
}

const integration = { address: `0x${'1'.repeat(40)}`, name: 'Demo shop' }
/** The simulated chains, for `trigger`. The demo's own payments are on a chain of anvil. */
const simulatedChains = '137,10,1,100,42161'
/** Poll interval in milliseconds: indexing looks instant, and the laptop stays idle. */
const pollMs = 100

/**
 * Starts chain, receiver, identity provider and service, in parallel where possible. Reports `ready` once all of them
 * run. @throws DemoError `ERR_DEMO` when `signal` aborts during the start, or no port is free; errors of the parts.
 */
export async function startDemo(settings: DemoSettings) {
  const { io, closers, events, signal } = settings
  const tracker = createPaymentTracker()
  const folder = await createDemoFolder(io, settings.keepsFolder)
  closers.add(folder, ({ close }) => close())

  const to = settings.forwardTo === undefined ? undefined : new URL(settings.forwardTo)
  const relay = to && createRelay(to.href, (delivery) => forward(delivery, { to, io }), settings.seed, events.report)
  let signingSecret: string | undefined
  const receiverOptions = {
    databasePath: join(folder.path, 'receiver.db'),
    secret: () => signingSecret,
    clock: io,
    relay,
    onAnswer: noteAnswer,
    onRejection: (facts: { code: string; status: number }) => events.report({ event: 'receiver.rejected', ...facts }),
  }
  const givenPort = settings.port ?? (io.env['PI_PORT'] || undefined)
  const [chain, receiver, identity, port, service] = await waitForAll([
    startDemoChain(signal).then((started) => closers.add(started, ({ stop }) => stop())),
    startDemoReceiver(receiverOptions).then((started) => closers.add(started, ({ close }) => close())),
    startDemoIdentity(io).then((started) => closers.add(started, ({ close }) => close())),
    givenPort ?? findFreePort(devDefaults.port),
    import('@payment-integration/server/service'),
  ])
  if (signal.aborted) throw new DemoError('The start was interrupted.')

  const processorSecret = secretText(io)
  const config = service.readConfig({
    PI_ENV: 'development',
    PI_HOST: '127.0.0.1',
    PI_PORT: String(port),
    PI_DATABASE_URL: `sqlite:${join(folder.path, 'service.db')}`,
    PI_MASTER_KEY: secretText(io),
    PI_PROCESSOR_SECRETS: processorSecret,
    [`PI_RPC_URL_${chain.chainId}`]: chain.rpcUrl,
    [`PI_ROUTERS_${chain.chainId}`]: `${chain.router}@${chain.routerVersion}`,
    [`PI_TOKENS_${chain.chainId}`]: `${chain.token.address}:${chain.token.symbol}:${chain.token.currency}`,
    [`PI_START_BLOCK_${chain.chainId}`]: '0',
    [`PI_POLL_MS_${chain.chainId}`]: String(pollMs),
    // Nobody else mines this chain, so no block is orphaned.
    [`PI_CONFIRMATIONS_${chain.chainId}`]: '0',
    PI_RECEIPTS: 'off',
    PI_SIMULATED_CHAINS: simulatedChains,
    PI_CONSOLE: 'on',
    PI_PORTAL: 'on',
    ...identity.variables,
    // The demo prints its own lines; PI_LOG_LEVEL turns the server's log on.
    PI_LOG_LEVEL: io.env['PI_LOG_LEVEL'] ?? 'silent',
  })
  const options = {
    onEvent: watchService(events.report, tracker, chain.chainId, () => signal.aborted),
    logger: await logToStandardError(config, io),
    simulateChains: simulateChainsWith(io, identity.trigger),
    tools: developmentTools,
    // Pages show the user's URL; deliveries to that URL pass through the relay.
    route: (url: string) => (url === to?.href ? receiver.url : url),
  }
  const started = await startOnPort(service.startServer, config, options, givenPort === undefined)
  const running = closers.add(started, ({ stop }) => stop())
  const { address } = integration
  const create = (notificationUrl: string) => running.service.integrations.create({ ...integration, notificationUrl })
  // The service rejects some URLs, such as http in a local network. The built-in receiver then relays to them.
  const registerRelay = (error: unknown) => {
    if ((error as { readonly code?: string }).code !== 'ERR_URL_INVALID') throw error
    return create(receiver.url)
  }
  const [issued, legacyApiKey] = await Promise.all([
    to === undefined ? create(receiver.url) : create(to.href).catch(registerRelay),
    setUpLegacy(running.service, chain),
  ])
  signingSecret = issued.signingSecret

  const { apiSecret } = issued
  const serviceUrl = running.url
  identity.sendWebhooksTo(serviceUrl)
  const chainId = String(chain.chainId)
  const ready: ReadyEvent = {
    event: 'ready',
    version,
    readyMs: io.now() - settings.startedAt,
    url: serviceUrl,
    integrationAddress: address,
    apiSecret,
    signingSecret: issued.signingSecret,
    legacyApiKey,
    accountHandle,
    accountAddress: chain.merchant,
    tokenSymbol: chain.token.symbol,
    receiverUrl: receiver.url,
    identityProviderUrl: identity.url,
    shareUrl: `${serviceUrl}/api/v1/integration/idv-share-token`,
    shareRequest: { email: 'user@shop.example', kycShareToken: identity.mint() },
    triggerUrl: `${serviceUrl}${triggerPath}`,
    rpcUrl: chain.rpcUrl,
    chainId,
    router: chain.router,
    routerVersion: chain.routerVersion,
    folder: folder.path,
    kept: settings.keepsFolder,
    seed: settings.seed,
    forwardsTo: settings.forwardTo ?? null,
    minting: identity.minting,
  }
  events.report(ready)
  const values = {
    PAYMENTS_URL: serviceUrl,
    INTEGRATION_ADDRESS: address,
    API_SECRET: apiSecret,
    WEBHOOK_SIGNING_SECRET: issued.signingSecret,
    LEGACY_API_KEY: legacyApiKey,
  }
  if (settings.envFile !== null) events.report({ event: 'env.file', ...writeEnvFile(settings.envFile, values) })
  const advice = to === undefined ? null : await checkListening(to)
  if (to !== undefined && advice !== null)
    events.report({ event: 'forward.failed', url: to.href, status: null, advice })
  const { deliveries } = running.service
  const legacyAccess = { serviceUrl, legacyApiKey, chainId: chain.chainId, currency: chain.token.currency }
  let legacyReady: LegacyReadyEvent | null = null
  return {
    chainId,
    tracker,
    folder: folder.path,
    tokenSymbol: chain.token.symbol,
    /** Resolves with a sentence when a required part exits on its own. */
    exitReason: chain.exitReason,
    sendUpdate: createUpdateSender({ serviceUrl, secret: processorSecret, clock: io }),
    compare: createComparison({ serviceUrl, integrationAddress: address, apiSecret, stored: receiver.stored }),
    pay: ({ settlementCents, memo }: PaymentPlan): Promise<string> =>
      chain.pay({ integrationAddress: address, settlementCents, memo }),
    relay,
    doctor: to && (() => examineReceiver(to.href)),
    /** Replays the last delivery; `retryNow` makes all pending deliveries due. Both resolve with a sentence. */
    async replayLast() {
      const last = tracker.lastDelivery()
      if (last === null) return 'Nothing was delivered yet.'
      await deliveries.replay(last.deliveryId)
      return `Version ${last.version} of ${shortHash(last.txHash)} is sent again.`
    },
    async retryNow() {
      const { replayed } = await deliveries.replayAll({ integrationAddress: address, status: 'pending' })
      return replayed === 1 ? 'One delivery is attempted now.' : `${replayed} deliveries are attempted now.`
    },
    /** Commands to paste, with the values of this run. */
    commands: () => formatCommands(ready, legacyReady).join('\n'),
    openConsole: () => openBrowser(`${serviceUrl}/console`, io.env),
    legacyExample(txHash: string, plan: PaymentPlan) {
      legacyReady = buildLegacyExample(legacyAccess, txHash, plan)
      return legacyReady
    },
  }

  async function examineReceiver(url: string): Promise<string> {
    const { runDoctor } = await import('@payment-integration/testing/doctor')
    const receiver = { signingSecret: issued.signingSecret, integrationAddress: address }
    const report = await runDoctor({ url, ...receiver, clock: io, signal })
    const [style, frameworks] = [createStyle(io.color), await findFrameworks()]
    const findings = report.findings.flatMap((finding) => findingText(finding, frameworks, style))
    return [...findings, ...summaryText(report)].join('\n')
  }

  function noteAnswer({ snapshot, decision }: ReceiverAnswer): void {
    const { txHash, version: stored } = snapshot
    const outcome = decision === 'apply' ? `stored v${stored}` : `${decision}, discarded`
    // With a relay, the user's receiver answers: it may accept a version that this receiver has already stored.
    tracker.sawStored(txHash, stored, `signature ok, ${relay === undefined ? outcome : 'accepted by your receiver'}`)
  }
}

/** Like `Promise.all`, but first waits until all have settled, so that every started part can be closed. */
async function waitForAll<T extends readonly unknown[] | []>(starts: T) {
  await Promise.allSettled(starts)
  return Promise.all(starts)
}
