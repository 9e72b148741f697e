/** `payment-integration serve`, `feed publish` and `migrate …`: runs a server, and updates its schema. @module */
import type { SchemaProgress, SchemaStep } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import type { Config, RunningServer } from '@payment-integration/server/service'
import type { Cli, Options } from '../command.js'
import {
  addCommand,
  addGroup,
  databaseOption,
  durationParser,
  formatExamples,
  parsePort,
  wholeNumberParser,
} from '../command.js'
import { developmentTools, simulateChainsWith, startDemoIdentity } from '../development.js'
import { UsageError } from '../errors.js'
import { canAsk, confirm } from '../input.js'
import type { ExitCode, Io } from '../io.js'
import { createReporter, groupDigits, logToStandardError, type Reporter } from '../output.js'
import { aborted, isStoppedEarly } from '../process.js'
import { showProgress } from '../progress.js'
import { type ConfigFlags, createdText, findMissingDatabase, type OperateOptions, withFlags } from '../with-service.js'

export function addServe(cli: Cli): void {
  const exampleJson = 'serve --port 8080 --database sqlite:payments.db --json'
  const portHelp = 'port to listen on; 0 picks a free port (PI_PORT, default 4747)'
  addCommand(cli, 'serve', serve, 'serve', 'serve --role api,poller', exampleJson)
    .description('run the server until Ctrl-C or SIGTERM; PI_… variables configure it, see --variables')
    .option('--host <host>', 'address to listen on (PI_HOST, default 127.0.0.1)')
    .option('--port <port>', portHelp, parsePort)
    .option(...databaseOption)
    .option('--role <roles>', 'roles of this process, such as api,dispatcher,indexer:137 (PI_ROLES, default all)')
    .option('--variables', 'print each PI_… variable with its default and meaning, then exit')
}

type ServeOptions = Omit<ConfigFlags, 'roles'> & Options<'role', string> & Options<'variables' | 'json'>

/**
 * Serves until `io.signal` aborts, then finishes requests and deliveries in flight and closes the database.
 * Shows the rate and the remaining time of each chain that is behind its head.
 */
async function serve(options: ServeOptions, io: Io): Promise<void> {
  const report = createReporter(io, options.json)
  if (options.variables) return printVariables(report)
  const reportStopped = () => report({ event: 'stopped' }, () => ['Stopped.'])
  const started = await start(options, io).catch(async (error: unknown) => {
    if (await isStoppedEarly(io.signal)) return null
    throw error
  })
  if (started === null) return reportStopped()
  const { config, server, progress, createdPath, identity } = started
  if (createdPath !== null) report.note(createdText(createdPath))
  const { url, adminUrl } = server
  const urls = { ...(url === '' ? {} : { url }), ...(adminUrl === null ? {} : { adminUrl }) }
  report({ event: 'listening', ...urls }, () => [
    url === '' ? 'Running; its roles serve no requests.' : `Listening on ${url}`,
    ...summaryText(config, server),
    'Ctrl-C stops it.',
  ])
  await Promise.all([aborted(io.signal), progress.run(io.signal)])
  report({ event: 'stopping' }, () => [
    'Stopping: finishing requests and deliveries in flight. Ctrl-C again exits at once.',
  ])
  await server.stop()
  await identity?.close()
  reportStopped()
}

async function printVariables(report: Reporter): Promise<void> {
  const { listVariables } = await import('@payment-integration/server/internal')
  let printed = ''
  for (const { section, name, defaultValue, doc } of listVariables()) {
    report({ event: 'variable', section, name, default: defaultValue, doc }, () => [
      ...(section === printed ? [] : ['', section]),
      `  ${name}  (${defaultValue})`,
      `    ${doc}`,
    ])
    printed = section
  }
}

async function start(options: ServeOptions, io: Io) {
  const { readConfig, startServer } = await import('@payment-integration/server/service')
  const flags = { ...options, roles: options.role }
  const initial = readConfig(withFlags(io.env, flags))
  const identity = initial.simulatedChains.length > 0 && initial.identity === null ? await startDemoIdentity(io) : null
  const config = identity === null ? initial : readConfig(withFlags({ ...io.env, ...identity.variables }, flags))
  const createdPath = await findMissingDatabase(config.database, true)
  const logger = await logToStandardError(config, io)
  const progress = showProgress({ io, logger, mayUseTerminal: options.json !== true })
  const simulateChains = simulateChainsWith(io, identity?.trigger)
  const parts = { logger, onEvent: progress.onEvent, simulateChains, tools: developmentTools }
  const server = await startServer(config, { ...parts, ownsProcess: io.ownsProcess }).catch(async (error: unknown) => {
    await identity?.close()
    throw error
  })
  identity?.sendWebhooksTo(server.url)
  return { config, server, progress, createdPath, identity }
}

/** The addresses and settings that a person looks for when a server starts. */
function summaryText(config: Config, { url, adminUrl }: Pick<RunningServer, 'url' | 'adminUrl'>): string[] {
  const { chains, simulatedChains, roles, consoleUrl, portal, settings } = config
  const setting = (name: string) => settings.find((each) => each.name === name)?.value ?? 'none'
  const servesPages = url !== '' && roles.console
  const chainNames = [...chains.map(({ chainId }) => `${chainId}`), ...simulatedChains.map((id) => `${id} (simulated)`)]
  const rows: readonly (readonly [name: string, value: string | null])[] = [
    ['API', url !== '' && roles.api ? `${url}/api/v1` : null],
    ['Console', servesPages && config.console ? `${consoleUrl ?? url}/console` : null],
    ['Portal', servesPages && portal !== null ? `${portal.publicUrl ?? url}/portal` : null],
    ['Operations', adminUrl && `${adminUrl}: live, ready, health and metrics`],
    ['Database', setting('PI_DATABASE_URL')],
    ['Chains', chainNames.join(', ') || 'none: set PI_RPC_URL_<chainId> to index one'],
    ['Roles', setting('PI_ROLES')],
    ['Environment', config.environment],
  ]
  return rows.flatMap(([name, value]) => (value === null ? [] : [`  ${name.padEnd(11)}  ${value}`]))
}

export function addFeed(cli: Cli): void {
  const group = cli.program
    .command('feed')
    .summary('publish proven blocks of chains for many deployments')
    .description('publish proven blocks of chains for many deployments, over NATS JetStream')
    .helpCommand(false)
    .addHelpText('after', formatExamples(['feed publish']))
  const exampleLimits = 'feed publish --replicas 1 --max-age 1d --max-megabytes 100'
  const sizeHelp = 'size at which a new stream drops its oldest blocks (default 1024)'
  addCommand({ ...cli, program: group }, 'publish', publish, 'feed publish', exampleLimits)
    .description(
      'read the chains of PI_RPC_URL_<chainId> and publish them to PI_CHAIN_FEED_URL until Ctrl-C or SIGTERM',
    )
    .option('--replicas <count>', 'copies of each new stream, on different servers (default 3)', parseReplicas)
    .option('--max-age <duration>', 'age at which a new stream drops a block (default 7d)', durationParser('24d'))
    .option('--max-megabytes <size>', sizeHelp, wholeNumberParser(1, 1_000_000))
}

const parseReplicas = wholeNumberParser(1, 5)

/** The limits apply only when the stream does not exist yet. */
interface PublishOptions extends Options<'replicas' | 'maxMegabytes', number>, Options<'json'> {
  /** Milliseconds. */
  readonly maxAge?: number
}

async function publish({ replicas, maxAge, maxMegabytes, json }: PublishOptions, io: Io): Promise<void> {
  const { publishFeed, readFeedPublisherConfig } = await import('@payment-integration/server/internal')
  const config = readFeedPublisherConfig(io.env)
  const report = createReporter(io, json)
  const logger = await logToStandardError(config, io)
  const chainIds = config.chains.map(({ chainId }) => chainId)
  report({ event: 'publishing', chainIds }, () => [`Publishing chains ${chainIds.join(', ')}. Ctrl-C stops it.`])
  const maxBytes = maxMegabytes === undefined ? undefined : maxMegabytes * 1_048_576
  await publishFeed(config, io.signal, { replicas, maxAgeMs: maxAge, maxBytes, logger })
  report({ event: 'stopped' }, () => ['Stopped.'])
}

export function addMigrate(cli: Cli): void {
  const about = 'bring the schema up to date while the previous release keeps running'
  const { add } = addGroup(cli, 'migrate', about, 'plan', 'apply')
  add('plan', planMigration, 'plan', 'plan --json').description(
    'print the pending steps and change nothing; exits with 1 if apply has any',
  )
  add('apply', applyMigration, 'apply').description(
    'run the steps that this release needs, before its first process starts',
  )
  add('contract', contractSchema, 'contract --yes')
    .description('remove what only older releases need, once none of their processes runs')
    .option('-y, --yes', 'do not ask for confirmation')
}

type ContractOptions = OperateOptions & Options<'yes'>

type SchemaWork = (
  store: Pick<Store, 'migrate' | 'schema'>,
  report: Reporter,
  options: ContractOptions,
  io: Io,
) => Promise<void> | Promise<ExitCode>

/** Makes an action that opens only the database: a migration needs no other variable. */
function schemaAction(work: SchemaWork) {
  return async (options: ContractOptions, io: Io): Promise<ExitCode> => {
    const { readDatabaseConfig } = await import('@payment-integration/server/internal')
    const { openDatabase } = await import('@payment-integration/server/service')
    const database = readDatabaseConfig(withFlags(io.env, options))
    await findMissingDatabase(database, false)
    const store = await openDatabase(database)
    try {
      return (await work(store, createReporter(io, options.json), options, io)) ?? 0
    } finally {
      await store.close()
    }
  }
}

const planMigration = schemaAction(async ({ schema }, report) => {
  const { expand, contract } = await schema.plan()
  report({ event: 'plan', expand, contract }, () => [
    ...(expand.length === 0
      ? ['The schema is up to date.']
      : ['migrate apply runs these steps:', ...expand.map(stepText)]),
    ...(contract.length === 0
      ? []
      : ['migrate contract runs these, once no older release is running:', ...contract.map(stepText)]),
  ])
  return expand.length === 0 ? 0 : 1
})

const applyMigration = schemaAction(async ({ migrate, schema }, report) => {
  const { expand } = await schema.plan()
  await migrate((progress) => showStep(progress, report))
  report({ event: 'migrated', steps: expand.length }, () => ['The schema is up to date.'])
})

const contractSchema = schemaAction(async ({ schema }, report, options, io) => {
  const { contract } = await schema.plan()
  if (contract.length > 0 && !(await isConfirmed(options, contract, io))) return 1
  await schema.contract((progress) => showStep(progress, report))
  report({ event: 'contracted', steps: contract.length }, () => [
    contract.length === 0 ? 'Nothing of older releases is left.' : 'All that only older releases needed is removed.',
  ])
  return 0
})

async function isConfirmed({ yes, json }: ContractOptions, steps: readonly SchemaStep[], io: Io): Promise<boolean> {
  if (yes) return true
  if (json === true || !canAsk(io))
    throw new UsageError('Processes of older releases fail after this: stop all, then pass --yes.')
  for (const line of steps.map(stepText)) io.out(line)
  return confirm('Processes of older releases fail after this. Have all of them stopped?', io)
}

function stepText({ version, about, rows }: SchemaStep): string {
  return `  ${version}  ${about}${rows === null ? '' : `  (about ${groupDigits(rows)} rows)`}`
}

function showStep(progress: SchemaProgress, report: Reporter): void {
  const { event, version, about, rows, share } = progress
  const percent = `${Math.floor(share * 100)} %`
  const word = { begun: '…', waiting: 'waits for a lock', progress: percent, done: 'done' }[event]
  report({ event: `step.${event}`, version, about, rows, share }, () => [`  ${version}  ${about}: ${word}`])
}
