/** Where the server's log goes. @module */
import type { Config } from '@payment-integration/server/service'
import type { Io } from '../io.js'

/**
 * A logger at the configured level on standard error: standard output carries what the command itself says, and with
 * `--json` nothing but its events.
 */
export async function logToStandardError({ logLevel }: Pick<Config, 'logLevel'>, io: Pick<Io, 'err'>) {
  const { createPinoLogger } = await import('@payment-integration/server/service')
  return createPinoLogger({ level: logLevel, destination: { write: (line) => io.err(line.trimEnd()) } })
}
