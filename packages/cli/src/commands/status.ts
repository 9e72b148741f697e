/** `payment-integration status`: how a running server is doing. @module */
import { DatabaseMissingError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { createReporter } from '../output/reporter.js'
import { askHealth } from '../status/ask-health.js'
import { configuredServerUrl } from '../status/server-url.js'
import { type ChainProofs, notificationsText, proofsText, statusText } from '../status/status-text.js'
import { type OperateOptions, withService } from './with-service.js'

/** Options of {@link showStatus}. */
export interface StatusOptions extends OperateOptions {
  /** Base address of the server. @default where PI_HOST and PI_PORT say that it listens */
  readonly url?: string | undefined
}

/** Most proven ranges of a chain that are shown. */
const maxRanges = 10

/**
 * Asks the server for its health and shows it; where the configuration of the server is at hand, also how the stored blocks of each
 * chain were proven, and how many endpoints of notifications fail.
 * @returns 0 when all is well, 1 when the server is degraded or down.
 * @throws ServerError `ERR_SERVER` when no such server answers; ConfigError `ERR_CONFIG` and the errors of the database when one is named.
 */
export async function showStatus(options: StatusOptions, io: Io): Promise<ExitCode> {
  const { json = false, url = configuredServerUrl(io.env) } = options
  const report = createReporter(io, json)
  const health = await askHealth(url, io.signal)
  report({ event: 'status', url, ...health }, (event) => statusText(url, event, io.now()))
  const stored = await readStored(options, io)
  for (const proofs of stored?.proofs ?? []) report({ event: 'proofs', ...proofs }, proofsText)
  if (stored !== null) report({ event: 'notifications', failing: stored.failing }, notificationsText)
  return health.status === 'ok' ? 0 : 1
}

interface Stored {
  /** Of the chains that the configuration names. */
  readonly proofs: readonly ChainProofs[]
  /** Endpoints of notifications that are blocked. */
  readonly failing: number
}

/** What the database says; null where it is not at hand. */
async function readStored(options: StatusOptions, io: Io): Promise<Stored | null> {
  const isNamed =
    options.database !== undefined || ['PI_DATABASE_URL', 'PI_DATABASE_URL_FILE'].some((name) => io.env[name])
  if (!isNamed && !io.env['PI_MASTER_KEY']) return null
  let stored: Stored | null = null
  try {
    await withService(options, io, async ({ store, deliveries }, _, config) => {
      const proofs: ChainProofs[] = []
      for (const { chainId } of config.chains)
        proofs.push({ chainId, ranges: await store.chains.proofs(chainId, maxRanges) })
      const failing = (await deliveries.endpoints()).filter(({ blocks }) => blocks > 0).length
      stored = { proofs, failing }
    })
  } catch (error) {
    // Nobody said that the database is on this machine.
    if (isNamed || !(error instanceof DatabaseMissingError)) throw error
  }
  return stored
}
