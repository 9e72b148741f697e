/** `payment-integration status`: shows the health of a running server. @module */
import { healthSchema, parseUrl } from '@payment-integration/contract/internal'
import { ExcessiveJsonError, readForeignJson, startTimeLimit } from '@payment-integration/contract/internal-io'
import { type DatabaseSnapshot, oldSnapshotMs, type RunningProcess } from '@payment-integration/core/internal'
import type { ProvenRange } from '@payment-integration/core/ports'
import type { HealthReport } from '@payment-integration/server'
import type { ChainHealth } from '@payment-integration/server/internal'
import { InvalidArgumentError } from 'commander'
import { addCommand, type Cli, databaseOption, type Options } from '../command.js'
import { DatabaseMissingError, InterruptedError, UnusableServerError, UsageError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { type Columns, createReporter, formatCount, indent, roundDuration, toTable } from '../output.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Timeout in milliseconds: the server waits at most two seconds for its database; the network gets three. */
const timeoutMs = 5_000
/** Limit of a report in bytes; a thousand nodes need far less. */
const maxBytes = 1_048_576

async function fetchHealth(url: string, signal: AbortSignal): Promise<HealthReport> {
  let body: unknown
  const limit = startTimeLimit(timeoutMs, signal)
  try {
    const response = await fetch(`${url}/health`, { redirect: 'error', signal: limit.signal })
    body = await readForeignJson(response, maxBytes).catch((error: unknown) => {
      if (error instanceof ExcessiveJsonError || error instanceof SyntaxError) return null
      throw error
    })
  } catch (cause) {
    if (signal.aborted) throw new InterruptedError('The status was not read: the command was interrupted.')
    const message = `No server answers at ${url}${describeReason(cause)}; is it running? Pass another URL with --url.`
    throw new UnusableServerError(message, { cause })
  } finally {
    limit.end()
  }
  const report = parseHealth(body)
  if (report === null)
    throw new UnusableServerError(
      `The server at ${url} is not a payment integration server of this version; pass another URL with --url.`,
    )
  return report
}

/** The cause for the message: the timeout or the system's error code; else an empty text. */
function describeReason(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if (error.name === 'TimeoutError') return ` within ${timeoutMs / 1_000} s`
  const { code } = (error.cause ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? ` (${code})` : ''
}

/** Returns a report unchanged, with its unknown fields; null when the value is no report. */
export function parseHealth(value: unknown): HealthReport | null {
  const { chains } = (value ?? {}) as { readonly chains?: unknown }
  if (!Array.isArray(chains)) return null
  // An older server reports no `headAt`.
  const report = { ...(value as HealthReport), chains: chains.map((chain) => ({ headAt: null, ...chain })) }
  return healthSchema().safeParse(report).success ? (value as HealthReport) : null
}

type NodeHealth = ChainHealth['nodes'][number]

const getChainColumns = (now: number): Columns<ChainHealth> => ({
  chain: ({ chainId }) => String(chainId),
  head: ({ head }) => head,
  age: ({ headAt }) => (typeof headAt === 'number' ? roundDuration(Math.max(0, now - headAt) / 1_000) : null),
  indexed: ({ indexed }) => indexed,
  lag: ({ lag }) => lag,
  proof: ({ proof }) => proof,
  reorgs: ({ reorgs }) => reorgs,
  role: ({ leading }) => (leading ? 'leads' : 'stands by'),
})

const nodeColumns: Columns<NodeHealth> = {
  node: ({ name }) => name,
  score: ({ score }) => score.toFixed(2),
  used: ({ inUse }) => (inUse ? 'yes' : 'no'),
  head: ({ head }) => head,
  ms: ({ latencyMs }) => latencyMs,
  failures: ({ failures }) => failures,
  contradictions: ({ contradictions }) => contradictions,
  'failed proofs': ({ failedProofs }) => failedProofs,
  'blocks per request': ({ maxRange }) => maxRange,
}

/** @param price - The price of a million calls; null: unknown. */
const getTrafficColumns = (price: number | null): Columns<NodeHealth> => ({
  node: ({ name }) => name,
  calls: ({ calls }) => calls,
  bytes: ({ receivedBytes }) => receivedBytes,
  blocks: ({ blocks }) => blocks,
  'calls per block': ({ calls, blocks }) => (blocks === 0 ? null : (calls / blocks).toFixed(2)),
  'bytes per block': ({ receivedBytes, blocks }) => (blocks === 0 ? null : receivedBytes / blocks),
  cost: ({ calls }) => (price === null ? null : ((calls * price) / 1_000_000).toFixed(4)),
})

const getProcessColumns = (now: number): Columns<RunningProcess> => ({
  process: ({ host, pid }) => `${host} ${pid}`,
  release: ({ release }) => release,
  roles: ({ roles }) => roles.join(' '),
  state: ({ startedAt, silentMs }) =>
    silentMs === null
      ? `runs for ${roundDuration(Math.max(0, now - startedAt) / 1_000)}`
      : `silent for ${roundDuration(silentMs / 1_000)}`,
  leases: ({ leases }) => leases.join(' ') || null,
})

const proofColumns: Columns<ProvenRange> = {
  from: ({ from }) => from,
  to: ({ to }) => to,
  proof: ({ proof }) => proof,
  node: ({ node }) => node,
}

/** Formats the report. `getPrice` gives the price of a million calls at the nodes of a chain; null: unknown. */
function statusText(url: string, health: HealthReport, now: number, getPrice: (chainId: number) => number | null) {
  const { status, database, chains, recording } = health
  return [
    `${status}: ${url}, database ${database}`,
    ...(recording === 'own' ? ['Only payments of its own integrations are stored (PI_RECORD=own).'] : []),
    ...(chains.length === 0 ? ['The server follows no chain.'] : ['', ...toTable(chains, getChainColumns(now))]),
    ...chains.flatMap((chain) => formatDetails(chain, now, getPrice(chain.chainId))),
  ]
}

export function processesText({ processes }: { readonly processes: readonly RunningProcess[] }, now: number): string[] {
  if (processes.length === 0) return ['', 'No process runs on this database.']
  return ['', 'Processes', ...indent(toTable(processes, getProcessColumns(now)))]
}

export function proofsText({ chainId, ranges }: { chainId: number; ranges: readonly ProvenRange[] }): string[] {
  if (ranges.length === 0) return ['', `Chain ${chainId}: no block is stored.`]
  return ['', `Chain ${chainId}: how its blocks were proven, newest first`, ...indent(toTable(ranges, proofColumns))]
}

export function notificationsText({ failing }: { readonly failing: number }): string[] {
  if (failing === 0) return ['', 'Notifications: no blocked endpoint.']
  return ['', `Notifications: ${formatCount(failing, 'blocked endpoint')}; see deliveries endpoints.`]
}

export function oldSnapshotText({ holder, ageMs, databaseUser, application }: DatabaseSnapshot): string[] {
  const user = databaseUser === null ? '' : ` of database user ${databaseUser}`
  const name = application === '' ? 'without a name' : application
  return [
    '',
    `Warning: a database snapshot has been open for ${roundDuration(ageMs / 1_000)} and slows deliveries: ${holder} ${name}${user}.`,
    'See docs/runbooks/old-database-snapshot.md.',
  ]
}

/** A head of this age, in milliseconds, is reported as a problem: no chain pauses for so long. */
const oldHeadMs = 300_000

function formatDetails({ chainId, headAt, nodes, error, lastError }: ChainHealth, now: number, price: number | null) {
  const headAgeMs = now - (headAt ?? now)
  const messages = [
    ...(headAgeMs < oldHeadMs
      ? []
      : [`old head: the newest block is ${roundDuration(headAgeMs / 1_000)} old; are the nodes in sync?`]),
    ...(error === null ? [] : [`error: ${error}`]),
    ...(lastError === null
      ? []
      : [`last error, ${roundDuration(Math.max(0, now - lastError.at) / 1_000)} ago: ${lastError.message}`]),
    ...nodes.flatMap(({ name, lastError: message }) => (message === null ? [] : [`${name}: ${message}`])),
  ]
  return [
    '',
    `Chain ${chainId}`,
    ...indent([
      ...(nodes.length === 0 ? [] : [...toTable(nodes, nodeColumns), ...toTable(nodes, getTrafficColumns(price))]),
      ...messages,
    ]),
  ]
}

export function addStatus(cli: Cli): void {
  const databaseHelp = `${databaseOption[1]}; adds processes, and how stored blocks were proven`
  addCommand(cli, 'status', showStatus, 'status', 'status --url https://payments.example --json')
    .description('show the health of a running server and its chains; exits with 1 unless all is well')
    .option('--url <url>', 'base URL of the server (default: from PI_HOST and PI_PORT)', parseServerUrl)
    .option('--database <url>', databaseHelp)
}

type StatusOptions = OperateOptions & Options<'url', string>

const maxRanges = 10

/**
 * Prints the health of the server, and what a configured database holds.
 * @returns 0 when all is well, 1 when the server is degraded or down.
 * @throws UnusableServerError `ERR_SERVER` when no server of this version answers; errors of a configured database.
 */
async function showStatus(options: StatusOptions, io: Io): Promise<ExitCode> {
  const { json, url = findServerUrl(io.env) } = options
  const report = createReporter(io, json)
  const health = await fetchHealth(url, io.signal).catch((error: unknown) => {
    if (error instanceof UnusableServerError) return error
    throw error
  })
  if (!(health instanceof UnusableServerError))
    report({ event: 'status', url, ...health }, (event) =>
      statusText(url, event, io.now(), (chainId) => readCallPrice(io.env, chainId)),
    )
  await reportStored(options, io)
  // Thrown after the database is printed: without the role `api`, a healthy process answers no request.
  if (health instanceof UnusableServerError) throw health
  return health.status === 'ok' ? 0 : 1
}

/** Prints what the database holds; nothing when none is configured or found. */
async function reportStored(options: StatusOptions, io: Io): Promise<void> {
  const isConfigured =
    options.database !== undefined || ['PI_DATABASE_URL', 'PI_DATABASE_URL_FILE'].some((name) => io.env[name])
  if (!isConfigured && !['PI_MASTER_KEY', 'PI_MASTER_KEY_FILE'].some((name) => io.env[name])) return
  try {
    await withService(options, io, async ({ store, deliveries, processes }, report, { chains }) => {
      const running = await processes.list()
      const proofs: { chainId: number; ranges: ProvenRange[] }[] = []
      for (const { chainId } of chains) proofs.push({ chainId, ranges: await store.chains.proofs(chainId, maxRanges) })
      const failing = (await deliveries.endpoints()).filter(({ blocks }) => blocks > 0).length
      const snapshot = await store.deliveries.oldestSnapshot()
      report({ event: 'processes', processes: running }, (event) => processesText(event, io.now()))
      for (const proof of proofs) report({ event: 'proofs', ...proof }, proofsText)
      report({ event: 'notifications', failing }, notificationsText)
      if (snapshot !== null && snapshot.ageMs >= oldSnapshotMs)
        report({ event: 'snapshot.old', ...snapshot }, oldSnapshotText)
    })
  } catch (error) {
    // The default database may be missing on this machine.
    if (isConfigured || !(error instanceof DatabaseMissingError)) throw error
  }
}

/** Reads the price of a million calls from the environment, as `serve` does; null: not set. */
function readCallPrice(env: Io['env'], chainId: number): number | null {
  const text = env[`PI_RPC_PRICE_${chainId}`] ?? ''
  return /^[0-9]{1,7}(\.[0-9]{1,6})?$/.test(text) ? Number(text) : null
}

/** Maps each wildcard address to its loopback address. */
const localAddresses: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Parses the base URL of a server, without slashes at its end. The error omits a text that may hold a password. */
export function parseServerUrl(text: string): string {
  const url = parseUrl(text)
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  // Rejects a password: other users of the machine can see arguments.
  if (!isAddress || url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('Expected http://… or https://…, without user, query and fragment.')
  return url.href.replace(/\/{1,64}$/, '')
}

/** Finds the URL at which this machine reaches a server with this environment. @throws UsageError `ERR_USAGE` */
export function findServerUrl(env: Io['env']): string {
  const host = env['PI_HOST'] || '127.0.0.1'
  const port = env['PI_PORT'] || '4747'
  const name = localAddresses[host] ?? host
  const url = `http://${name.includes(':') ? `[${name}]` : name}:${port}`
  if (port === '0' || parseUrl(url) === null)
    throw new UsageError('PI_HOST and PI_PORT do not determine the URL of the server; pass it with --url.')
  return url
}
