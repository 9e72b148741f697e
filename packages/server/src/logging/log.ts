/** Writes JSON lines with allow-listed fields, and logs events. Source: docs/observability.md. @module */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { EventSink, ServiceEvent } from '@payment-integration/core'
import { loadPackage } from '@payment-integration/core/internal'
import type { Logger } from '@payment-integration/core/ports'
import type { DestinationStream } from 'pino'
import type { Config } from '../config/read-config.js'

/** Longest text that is shown, in characters: enough for ten stack frames. */
const maxCharacters = 4_096
/**
 * A URL. A quote ends it, except within the user information. The bounds keep the search linear; no scheme or password
 * in use is longer.
 */
const urlPattern = /[a-z][a-z0-9+.-]{0,31}:\/\/(?:[^\s/?#]{0,256}@)?[^\s"'<>]*/gi
/** A host with or without a port. */
const hostPattern = /^(?:[^:[\]]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/i

/**
 * Keeps only scheme and host of every URL in a text: credentials, path and query may hold keys. Without a recognizable
 * host only the scheme stays. A text that is too long is cut, and a URL at the cut is dropped.
 */
export function shortenUrls(text: string): string {
  const isCut = text.length > maxCharacters
  const shown = (isCut ? cutText(text) : text).replace(urlPattern, shortenUrl)
  return isCut ? `${shown}…` : shown
}

/** The beginning of a text, without a URL at the cut: if the `@` was cut off, a password would be shown as the host. */
function cutText(text: string): string {
  const beginning = text.slice(0, maxCharacters)
  let lastWordStart = beginning.length
  while (lastWordStart > 0 && !/\s/.test(beginning.charAt(lastWordStart - 1))) lastWordStart -= 1
  const url = beginning.indexOf('://', lastWordStart)
  return url === -1 ? beginning : beginning.slice(0, url)
}

function shortenUrl(url: string): string {
  const start = url.indexOf('://') + 3
  const [authority = ''] = url.slice(start).split(/[/?#]/, 1)
  const shown = authority.slice(authority.lastIndexOf('@') + 1)
  return `${url.slice(0, start)}${hostPattern.test(shown) ? shown : ''}`
}

/**
 * The loggable parts of a thrown value: class and code, the first stack frames, and class and code of the errors that
 * caused it, outermost first. Messages and other fields are left out: those of a driver may hold values, URLs or
 * credentials.
 */
export function toErrorFields(error: unknown) {
  const causes: string[] = []
  let cause = error instanceof Error ? error.cause : undefined
  while (cause instanceof Error && causes.length < 5) {
    causes.push([getClassName(cause), getErrorCode(cause)].filter((part) => part !== null).join(' '))
    cause = cause.cause
  }
  const frames = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line)) : []
  return { error: getClassName(error), code: getErrorCode(error), stack: frames.slice(0, 10).join('\n'), causes }
}

function getClassName(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error
}

function getErrorCode(error: unknown): string | null {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : null
}

const requestIds = new AsyncLocalStorage<string>()
let inFlightCount = 0

/**
 * Runs `work`, whose log lines get this request id, also after a wait. Before Node 24 the store of the id slows every
 * promise of the process by some microseconds, so it is disabled while no such request is in flight.
 */
export async function withRequestId<T>(requestId: string, work: () => Promise<T>): Promise<T> {
  inFlightCount += 1
  try {
    return await requestIds.run(requestId, work)
  } finally {
    inFlightCount -= 1
    if (inFlightCount === 0) requestIds.disable()
  }
}

/**
 * Every field that may appear in the log; others are dropped. So a new field cannot leak a secret, a body, a signature,
 * a query string or an RPC URL. A line without `requestId` gets the id of its request.
 */
// biome-ignore format: a list of words
const loggedFields = [
  'address', 'adminUrl', 'aheadMs', 'applicantId', 'atOnce', 'attachedLevel', 'attempt', 'attempts', 'blockNumber',
  'blocksPerSecond', 'bridge', 'call', 'causes', 'chainId', 'code', 'commonAncestor', 'config', 'configured',
  'database', 'deliveryId', 'depositId', 'destinationChainId', 'ended', 'endsInMs', 'error', 'eventType',
  'externalUserId', 'failingMs', 'failures', 'flaw', 'fault', 'from', 'hash', 'holder', 'indexed', 'integrationAddress',
  'kind', 'known', 'leading', 'levelName', 'logIndex', 'method', 'misfit', 'missing', 'ms', 'ordinal',
  'paymentsPerSecond', 'reason', 'requestId', 'retryInMs', 'route', 'router', 'secondsLeft', 'seq', 'servers', 'stack',
  'status', 'subjectId', 'to', 'txHash', 'url', 'version',
] as const

interface PinoLoggerOptions {
  readonly level: Config['logLevel']
  /** @default standard output */
  readonly destination?: DestinationStream | undefined
}

/** Creates a logger on pino. @throws MissingPackageError `ERR_PACKAGE_MISSING` when pino is not installed. */
export async function createPinoLogger({ level, destination }: PinoLoggerOptions): Promise<Logger> {
  const { pino } = await loadPackage('pino', 'The log without the option logger', () => import('pino'))
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  const log = destination === undefined ? pino(options) : pino(options, destination)
  return {
    debug: (fields, message) => log.debug(pickLoggedFields(fields), message),
    info: (fields, message) => log.info(pickLoggedFields(fields), message),
    warn: (fields, message) => log.warn(pickLoggedFields(fields), message),
    error: (fields, message) => log.error(pickLoggedFields(fields), message),
  }
}

function pickLoggedFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const listed: Record<string, unknown> = {}
  for (const name of loggedFields) {
    const value = fields[name]
    if (value !== undefined) listed[name] = typeof value === 'string' ? shortenUrls(value) : value
  }
  const requestId = requestIds.getStore()
  if (requestId !== undefined) listed['requestId'] ??= requestId
  return listed
}

type EventType = ServiceEvent['type']
type FieldOf<Type extends EventType> = Exclude<keyof Extract<ServiceEvent, { readonly type: Type }>, 'type'>
/** The level, fields and message of the line of an event. */
type LoggedEvents = {
  readonly [Type in EventType]?: readonly [level: 'info' | 'warn', fields: readonly FieldOf<Type>[], message: string]
}

const loggedEvents: LoggedEvents = {
  'endpoint.failing': [
    'warn',
    ['integrationAddress', 'failingMs'],
    'A notification endpoint fails; it is probed until it answers.',
  ],
  'endpoint.recovered': ['info', ['integrationAddress', 'failingMs'], 'A notification endpoint has recovered.'],
  'payment.additional': [
    'warn',
    ['integrationAddress', 'chainId', 'txHash', 'ordinal'],
    'A transaction holds several payments of an integration; only the legacy look-up shows this one.',
  ],
  'audit.head': [
    'info',
    ['seq', 'hash'],
    'Newest record of the audit log; audit verify --expect <seq>:<hash> checks that it still exists.',
  ],
  'delivery.exhausted': [
    'warn',
    ['deliveryId', 'integrationAddress', 'chainId', 'txHash', 'version', 'reason'],
    'A delivery is given up; it stays listed and can be replayed.',
  ],
}

/**
 * Builds a sink that logs endpoints that fail or recover, deliveries that are given up, payments that the read API does
 * not show, and the newest audit record. Metrics count the other events.
 */
export function createEventLog(logger: Pick<Logger, 'info' | 'warn'>): EventSink {
  return (event) => {
    const logged = loggedEvents[event.type]
    if (logged === undefined) return
    // A further payment without an integration was never visible in the read API, so nothing is hidden.
    if (event.type === 'payment.additional' && event.integrationAddress === null) return
    const [level, names, message] = logged
    const facts: Readonly<Record<string, unknown>> = event
    logger[level]({ eventType: event.type, ...Object.fromEntries(names.map((name) => [name, facts[name]])) }, message)
  }
}
