/** `payment-integration mirror`: keeps a full local copy of one integration's payments. @module */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { findDatabaseUrlProblem } from '@payment-integration/contract/internal-io'
import type { Mirror, MirrorEvent, MirrorReconciliation, MirrorStatus } from '@payment-integration/mirror'
import type { HandlerOptions } from '@payment-integration/webhook'
import { InvalidArgumentError } from 'commander'
import { addCommand, append, type Cli, durationParser, exampleAddress, type Options, parseAddress } from '../command.js'
import { asInterrupted, MirrorDatabaseError, UsageError } from '../errors.js'
import { openSqlite } from '../files.js'
import { readSecret, splitSecrets } from '../input.js'
import type { Io } from '../io.js'
import { createReporter, groupDigits, momentText, type Reporter, roundDuration, shortHash } from '../output.js'
import { createdText, hasPassword } from '../with-service.js'
import { parseServerUrl } from './status.js'

export function addMirror(cli: Cli): void {
  const required = `--server https://payments.example --integration ${exampleAddress}`
  addCommand(
    cli,
    'mirror',
    keepMirror,
    `mirror --to sqlite:payments.db ${required} --once`,
    `mirror --to postgres:///shop ${required} --listen 127.0.0.1:4748/webhook`,
  )
    .description('keep a full local copy of the payments of one integration until Ctrl-C')
    .option('--to <url>', 'database of the copy: sqlite:<path> or postgres://… (MIRROR_URL)')
    .requiredOption('--server <url>', 'base URL of the service', parseServerUrl)
    .requiredOption('--integration <address>', 'address of the integration', parseAddress)
    .option('--api-secret-env <name>', 'variable with the API secret (default API_SECRET)')
    .option(
      '--secret-env <name>',
      'variable with the webhook secret (default WEBHOOK_SIGNING_SECRET); repeat it during a rotation',
      append,
    )
    .option('--listen <address>', 'also receive webhooks, such as at 127.0.0.1:4748/webhook', parseListenAddress)
    .option('--once', 'compare and repair once, print the lag, and exit')
    .option('--every <duration>', 'time between two comparisons (default 60s)', durationParser('24d'))
}

/** No option takes a secret: other users can see arguments. */
interface MirrorCommandOptions extends Options<'to' | 'apiSecretEnv', string>, Options<'once' | 'json'> {
  readonly server: string
  readonly integration: string
  readonly secretEnv?: readonly string[]
  readonly listen?: ReturnType<typeof parseListenAddress>
  /** Milliseconds. */
  readonly every?: number
}

/**
 * Creates the tables, compares and repairs the copy, and prints the lag. Without `once` it repeats this at intervals,
 * receives webhooks with `listen`, and ends when `io.signal` aborts.
 */
async function keepMirror(options: MirrorCommandOptions, io: Io): Promise<void> {
  const { once = false, listen } = options
  if (once && listen !== undefined) throw new UsageError('--once receives no webhooks; omit --listen.')
  const url = targetUrl(options.to, io.env)
  const client = await createMirrorClient(options, io.env)
  const names = options.secretEnv ?? ['WEBHOOK_SIGNING_SECRET']
  const secrets = listen && names.flatMap((name) => splitSecrets(readSecret(name, io.env)))
  const { createMirror } = await import('@payment-integration/mirror')
  const report = createReporter(io, options.json)
  const target = await openTarget(url)
  try {
    if (target.createdPath !== null) report.note(createdText(target.createdPath))
    const printer = createPrinter(io, report, () => mirror.status())
    const { signal } = io
    const { database } = target
    const parts = { database, client, integrationAddress: options.integration, secrets, clock: io }
    const mirror: Mirror = createMirror({ ...parts, onEvent: printer.print })
    await mirror.migrate().catch((error: unknown) => {
      throw toErrorFields(error).code.startsWith('ERR_MIRROR') ? error : new MirrorDatabaseError(error)
    })
    if (once)
      await mirror.reconcile({ signal }).catch((error: unknown) => {
        throw asInterrupted(error, signal, 'Interrupted; the next run continues at the last page.')
      })
    else await runUntilAborted(mirror, options, printer, report, signal)
    await printer.done()
    if (!once) report({ event: 'stopped' }, () => ['Stopped.'])
  } finally {
    io.live?.([])
    await target.close()
  }
}

async function runUntilAborted(
  mirror: Mirror,
  { listen, every: everyMs }: Pick<MirrorCommandOptions, 'listen' | 'every'>,
  printer: ReturnType<typeof createPrinter>,
  report: Reporter,
  signal: AbortSignal,
): Promise<void> {
  if (listen === undefined) return mirror.run({ everyMs, signal })
  const { url, close } = await serveEndpoint(listen, {
    receive: mirror.receive,
    onError: (error) => printer.reportFailure('receive', error),
    onRejection: ({ code, status }) =>
      report({ event: 'rejected', code, status }, () => [`Rejected a delivery: ${code} (${status}).`]),
  })
  report({ event: 'listening', url }, () => [`Receiving webhooks at ${url}. Ctrl-C stops it.`])
  await mirror.run({ everyMs, signal }).finally(close)
}

async function createMirrorClient(options: MirrorCommandOptions, env: Io['env']) {
  const { server, integration, apiSecretEnv = 'API_SECRET' } = options
  const apiSecret = readSecret(apiSecretEnv, env)
  const { createClient } = await import('@payment-integration/client')
  try {
    return createClient({ baseUrl: server, integrationAddress: integration, apiSecret })
  } catch (error) {
    // The client throws a TypeError about an option; its messages repeat no secret.
    throw new UsageError((error as Error).message, { cause: error })
  }
}

function toErrorFields(error: unknown): { readonly code: string; readonly message: string } {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown }
  return { code: typeof code === 'string' ? code : '', message: String(message ?? error) }
}

/** Reads the URL of the database from the option, else from the variable. @throws UsageError `ERR_USAGE` */
export function targetUrl(to: string | undefined, env: Io['env']): string {
  if (to !== undefined && hasPassword(to))
    throw new UsageError(
      '--to contains a password, and other users of this machine can see arguments. Set MIRROR_URL instead of --to. Change the password if others use this machine.',
    )
  const url = to ?? env['MIRROR_URL']
  if (!url) throw new UsageError('There is no database for the mirror; pass --to, or set MIRROR_URL.')
  // The value may hold a password, so the message does not repeat it.
  if (!/^(sqlite:(?!$)|postgres(ql)?:[/]{2})/.test(url))
    throw new UsageError('--to and MIRROR_URL must be sqlite:<path> or postgres://….')
  const problem = findDatabaseUrlProblem(url)
  if (problem !== null) throw new UsageError(`The URL of the database ${problem}`)
  return url
}

/**
 * Opens or creates the database. `createdPath`: the absolute path of a SQLite file that did not exist, else null.
 * @throws MirrorDatabaseError `ERR_MIRROR_DATABASE`. A PostgreSQL server is reached only by the first statement.
 */
async function openTarget(url: string) {
  if (!url.startsWith('sqlite:')) {
    const { default: pg } = await import('pg')
    const pool = new pg.Pool({ connectionString: url, max: 4, connectionTimeoutMillis: 10_000 })
    // The pool replaces a broken idle connection; without this listener its error would end the process.
    pool.on('error', () => {})
    return { database: pool, createdPath: null, close: () => pool.end() }
  }
  const path = resolve(url.slice('sqlite:'.length))
  const isNew = !existsSync(path)
  try {
    // Only the owner may read the file, because it holds memos and merchant names.
    if (isNew) await (await open(path, 'a', 0o600)).close()
    const database = openSqlite(path)
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    return { database, createdPath: isNew ? path : null, close: async () => database.close() }
  } catch (error) {
    throw new MirrorDatabaseError(error)
  }
}

/** Parses `127.0.0.1:4748/webhook` or `[::1]:4748/webhook`. Port 0 picks a free port; the default path is `/`. */
export function parseListenAddress(text: string): { host: string; port: number; path: string } {
  const [, ipv6, name, port = '', path = '/'] =
    /^(?:\[([0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9.-]{1,253})):(\d{1,5})(\/[\w./~-]{0,200})?$/.exec(text) ?? []
  const host = ipv6 ?? name
  if (host === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('Expected an address, a port and a path, such as 127.0.0.1:4748/webhook.')
  return { host, port: Number(port), path }
}

const listenAdvice: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it or choose another port (--listen)',
  EACCES: 'this user may not use that port; choose one above 1023 (--listen)',
}

/**
 * Listens for webhooks at the path, and answers 404 at any other. @throws UsageError when listening fails.
 * @param graceMs - The longest wait for requests in flight at shutdown, in milliseconds.
 */
export async function serveEndpoint(
  { host, port, path }: ReturnType<typeof parseListenAddress>,
  options: Required<Pick<HandlerOptions, 'receive' | 'onError' | 'onRejection'>>,
  graceMs = 5_000,
) {
  const { createNodeHandler } = await import('@payment-integration/webhook/node')
  const handle = createNodeHandler(options)
  const server = createServer((request, response) => {
    if (request.url?.split('?')[0] === path) return void handle(request, response)
    response.writeHead(404).end()
    return undefined
  })
  server.listen(port, host)
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const { code = 'unknown reason' } = cause
    const failure = `Cannot listen on ${host} port ${port} (${code})`
    throw new UsageError(`${failure}: ${listenAdvice[code] ?? 'check --listen'}.`, { cause })
  })
  const { port: actual } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}${path}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearTimeout(timer)
    },
  }
}

/** Prints events in their order, and the status from `readStatus` after each reconciliation. */
function createPrinter({ live }: Pick<Io, 'live'>, report: Reporter, readStatus: () => Promise<MirrorStatus>) {
  let pending = Promise.resolve()

  function reportFailure(step: string, error: unknown): void {
    const { code, message } = toErrorFields(error)
    report({ event: 'failed', step, code: code || null, message }, () => [
      `Failed to ${step}: ${message.slice(0, 500)}`,
    ])
  }

  async function printStatus(): Promise<void> {
    try {
      report({ event: 'status', ...(await readStatus()) }, statusText)
    } catch (error) {
      reportFailure('read the status', error)
    }
  }

  function print(given: MirrorEvent) {
    const { type, ...facts } = given
    if (given.type === 'progress') {
      report({ event: type, ...facts }, () => [])
      return report.progress(`Compared ${groupDigits(given.compared)} payments.`)
    }
    live?.([])
    if (given.type === 'failed') return reportFailure(given.step, given.error)
    report({ event: type, ...facts }, () => eventText(given))
    if (given.type === 'reconciled') pending = pending.then(printStatus)
  }

  return { reportFailure, print, done: () => pending }
}

function eventText(event: Exclude<MirrorEvent, { type: 'progress' | 'failed' }>): string[] {
  switch (event.type) {
    case 'delivery': {
      const { decision, txHash, version, state } = event
      const stored = decision === 'apply' ? 'stored' : decision
      return [`${shortHash(txHash)}  v${version}  ${(state ?? 'none').slice(0, 64)}  ${stored}`]
    }
    case 'completed':
      if (event.completed + event.incomplete === 0) return []
      return [`Rows completed: ${groupDigits(event.completed)}, incomplete: ${groupDigits(event.incomplete)}.`]
    case 'reconciled':
      return reconciledText(event)
  }
}

function reconciledText(result: MirrorReconciliation): string[] {
  const { full, compared, added, updated, completed, refreshed, incomplete, unknown } = result
  const changes = Object.entries({ added, updated, completed, refreshed, incomplete })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${groupDigits(count)} ${name}`)
  const scope = full ? 'all payments' : 'the newest payments'
  const lines = [`Compared ${groupDigits(compared)} of ${scope}: ${changes.join(', ') || 'no difference'}.`]
  if (unknown === null || unknown.count === 0) return lines
  const samples = unknown.samples.slice(0, 5).map(({ chainId, txHash, reason }) => `${chainId}:${txHash} (${reason})`)
  const which = `${samples.join(', ')}${unknown.count > 5 ? ', …' : ''}`
  return [...lines, `The service does not have ${groupDigits(unknown.count)} of the rows: ${which}.`]
}

function statusText(status: MirrorStatus): string[] {
  const { rows, incomplete, lagMs, serviceError, copied, deliveredAt } = status
  const lag = lagMs === null ? 'unknown' : roundDuration(lagMs / 1_000)
  const reason = serviceError === null ? '' : ` (the service did not answer: ${serviceError})`
  return [
    `Lag ${lag}${reason}. ${groupDigits(rows)} payments${copied ? '' : ' so far; older ones follow'}, ${groupDigits(incomplete)} incomplete. Last delivery ${momentText(deliveredAt === null ? null : Date.parse(deliveredAt))}.`,
  ]
}
