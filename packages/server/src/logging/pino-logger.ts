/** Writes the log as JSON lines with allow-listed fields. @module */
import { loadPackage } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import type { DestinationStream } from 'pino'
import type { LogLevel } from '../config/config.js'
import { currentRequestId } from './request-context.js'
import { shortenUrls } from './shorten-urls.js'

/**
 * Every field that may appear in the log. Any other field is dropped. So a new one cannot carry a secret, a body, a
 * signature, a query string or an RPC URL into the log by accident. A line without `requestId` gets that of the request
 * that it belongs to.
 */
export const loggedFields = [
  'address',
  'aheadMs',
  'applicantId',
  'atOnce',
  'attempt',
  'attempts',
  'blockNumber',
  'blocksPerSecond',
  'bridge',
  'call',
  'causes',
  'chainId',
  'code',
  'commonAncestor',
  'config',
  'configured',
  'count',
  'database',
  'deliveryId',
  'depositId',
  'destinationChainId',
  'error',
  'eventType',
  'externalUserId',
  'failingMs',
  'failures',
  'flaw',
  'fault',
  'from',
  'hash',
  'head',
  'host',
  'indexed',
  'integrationAddress',
  'kind',
  'known',
  'latencyMs',
  'leading',
  'logIndex',
  'method',
  'misfit',
  'missing',
  'ms',
  'ordinal',
  'outcome',
  'paymentId',
  'paymentsPerSecond',
  'port',
  'reason',
  'requestId',
  'retryInMs',
  'route',
  'router',
  'secondsLeft',
  'seq',
  'signal',
  'stack',
  'startedAt',
  'status',
  'subjectId',
  'to',
  'txHash',
  'updateId',
  'url',
  'version',
  'waitMs',
] as const

/** Destination and level of the log. */
export interface PinoLoggerOptions {
  readonly level: LogLevel
  /** @default standard output */
  readonly destination?: DestinationStream | undefined
}

/** Builds a logger on pino. @throws MissingPackageError `ERR_PACKAGE_MISSING` when pino is not installed. */
export async function createPinoLogger({ level, destination }: PinoLoggerOptions): Promise<Logger> {
  const { pino } = await loadPackage('pino', 'The log without the option logger', () => import('pino'))
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  const log = destination === undefined ? pino(options) : pino(options, destination)
  return {
    debug: (fields, message) => log.debug(allowed(fields), message),
    info: (fields, message) => log.info(allowed(fields), message),
    warn: (fields, message) => log.warn(allowed(fields), message),
    error: (fields, message) => log.error(allowed(fields), message),
  }
}

function allowed(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const listed: Record<string, unknown> = {}
  for (const name of loggedFields) {
    const value = fields[name]
    if (value !== undefined) listed[name] = typeof value === 'string' ? shortenUrls(value) : value
  }
  const requestId = currentRequestId()
  if (requestId !== undefined) listed['requestId'] ??= requestId
  return listed
}
