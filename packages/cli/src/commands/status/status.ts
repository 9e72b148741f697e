/** `payment-integration status`: shows the health of a running server. @module */
import { parseUrl } from '@payment-integration/contract'
import { oldSnapshotMs, type RunningProcess } from '@payment-integration/core'
import type { DatabaseSnapshot } from '@payment-integration/core/ports'
import { type Command, InvalidArgumentError } from 'commander'
import { examples, type Finish, optionsOf } from '../../command.js'
import { DatabaseMissingError, ServerError, UsageError } from '../../errors.js'
import type { ExitCode, Io } from '../../io.js'
import { createReporter } from '../../output.js'
import { type OperateOptions, withService } from '../../with-service.js'
import { askHealth } from './health.js'
import { type ChainProofs, notificationsText, oldSnapshotText, processesText, proofsText, statusText } from './text.js'

/** Adds the command. */
export function addStatus(program: Command, io: Io, finish: Finish): void {
  program
    .command('status')
    .description('show the health of a running server and its chains; exits with 1 unless all is well')
    .option('--url <url>', 'base URL of the server (default: from PI_HOST and PI_PORT)', parseServerUrl)
    .option(
      '--database <url>',
      'sqlite:<path> or postgres://… (PI_DATABASE_URL); adds processes, and how stored blocks were proven',
    )
    .addHelpText('after', examples('status', 'status --url https://payments.example --json'))
    .action(async (_options, command) => finish(await showStatus(optionsOf<StatusOptions>(command), io)))
}

/** Options of {@link showStatus}. */
interface StatusOptions extends OperateOptions {
  /** Base URL of the server. @default from PI_HOST and PI_PORT */
  readonly url?: string | undefined
}

/** Limit of printed ranges of a chain. */
const maxRanges = 10

/**
 * Prints the health of the server. With a configured database it also prints the processes, how the stored blocks of
 * each chain were proven, and how many notification endpoints fail.
 * @returns 0 when all is well, 1 when the server is degraded or down.
 * @throws ServerError `ERR_SERVER` when no such server answers; ConfigError `ERR_CONFIG` and errors of a configured
 * database.
 */
async function showStatus(options: StatusOptions, io: Io): Promise<ExitCode> {
  const { json = false, url = configuredServerUrl(io.env) } = options
  const report = createReporter(io, json)
  const health = await askHealth(url, io.signal).catch((error: unknown) => {
    if (error instanceof ServerError) return error
    throw error
  })
  if (!(health instanceof ServerError))
    report({ event: 'status', url, ...health }, (event) =>
      statusText(url, event, { now: io.now(), priceOf: (chainId) => callPrice(io.env, chainId) }),
    )
  const stored = await readStored(options, io)
  if (stored !== null)
    report({ event: 'processes', processes: stored.processes }, (event) => processesText(event, io.now()))
  for (const proofs of stored?.proofs ?? []) report({ event: 'proofs', ...proofs }, proofsText)
  if (stored !== null) report({ event: 'notifications', failing: stored.failing }, notificationsText)
  if (stored !== null && stored.oldSnapshot !== null)
    report({ event: 'snapshot.old', ...stored.oldSnapshot }, oldSnapshotText)
  // The others may be well: a process without the role `api` answers no request.
  if (health instanceof ServerError) throw health
  return health.status === 'ok' ? 0 : 1
}

interface Stored {
  readonly processes: readonly RunningProcess[]
  /** Of the configured chains. */
  readonly proofs: readonly ChainProofs[]
  /** Number of blocked notification endpoints. */
  readonly failing: number
  /** A database snapshot that has been open for long, or null. */
  readonly oldSnapshot: DatabaseSnapshot | null
}

/** Reads the database; null when none is configured or found. */
async function readStored(options: StatusOptions, io: Io): Promise<Stored | null> {
  const isConfigured =
    options.database !== undefined || ['PI_DATABASE_URL', 'PI_DATABASE_URL_FILE'].some((name) => io.env[name])
  if (!isConfigured && !['PI_MASTER_KEY', 'PI_MASTER_KEY_FILE'].some((name) => io.env[name])) return null
  let stored: Stored | null = null
  try {
    await withService(options, io, async ({ store, deliveries, processes }, _, config) => {
      const proofs: ChainProofs[] = []
      for (const { chainId } of config.chains)
        proofs.push({ chainId, ranges: await store.chains.proofs(chainId, maxRanges) })
      const failing = (await deliveries.endpoints()).filter(({ blocks }) => blocks > 0).length
      const snapshot = await store.deliveries.oldestSnapshot()
      const oldSnapshot = snapshot !== null && snapshot.ageMs >= oldSnapshotMs ? snapshot : null
      stored = { processes: await processes.list(), proofs, failing, oldSnapshot }
    })
  } catch (error) {
    // The default database need not be on this machine.
    if (isConfigured || !(error instanceof DatabaseMissingError)) throw error
  }
  return stored
}

/** The price of a million calls in the environment, as `serve` reads it; null when there is none. */
function callPrice(env: Io['env'], chainId: number): number | null {
  const text = env[`PI_RPC_PRICE_${chainId}`] ?? ''
  return /^[0-9]{1,7}(\.[0-9]{1,6})?$/.test(text) ? Number(text) : null
}

/** Addresses that stand for every interface, and the local one of each. */
const localAddresses: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/**
 * Parses the base URL of a server, and removes slashes at its end.
 * @throws InvalidArgumentError With the expected form, without the argument, which may hold a password.
 */
export function parseServerUrl(text: string): string {
  const url = parseUrl(text)
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  // Other users of a machine can see arguments.
  if (!isAddress || url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('Expected http://… or https://…, without user, query and fragment.')
  return url.href.replace(/\/{1,64}$/, '')
}

/**
 * The URL at which a server with this environment listens, seen from this machine.
 * @throws UsageError `ERR_USAGE` when the environment does not determine it.
 */
export function configuredServerUrl(env: Io['env']): string {
  const host = env['PI_HOST'] || '127.0.0.1'
  const port = env['PI_PORT'] || '4747'
  const name = localAddresses[host] ?? host
  const url = `http://${name.includes(':') ? `[${name}]` : name}:${port}`
  if (port === '0' || parseUrl(url) === null)
    throw new UsageError('PI_HOST and PI_PORT do not determine the URL of the server; pass it with --url.')
  return url
}
