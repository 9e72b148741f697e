/**
 * Keeps a connection to the NATS servers, and defines the feed's errors.
 * Source: docs/decisions/chain-feed.md.
 * @module
 */
import type { Authenticator, NatsConnection } from '@nats-io/transport-node'
import { connect, credsAuthenticator, nkeyAuthenticator } from '@nats-io/transport-node'
import { parseUrl } from '@payment-integration/contract/internal'
import { CoreError, systemClock } from '@payment-integration/core'
import type { Clock } from '@payment-integration/core/ports'

/**
 * The code of a {@link FeedError}, and how the caller reacts.
 * - `ERR_FEED_UNAVAILABLE`: no server is connected, or none answers. Retry later.
 * - `ERR_FEED_MESSAGE`: a message is malformed, unproven, or of another chain or version. Read that block elsewhere.
 * - `ERR_FEED_GAP`: a block is missing, does not continue the one before it, or does not meet the reader's demands.
 * Read that block elsewhere.
 * - `ERR_FEED_MOVED`: another publisher appended first. Read the newest message again.
 * - `ERR_FEED_BLOCK_TOO_LARGE`: the payments of one block exceed the server's `max_payload`. Raise that limit.
 * - `ERR_FEED_STREAM`: the stream cannot be created, or is not one of this feed. An operator must act.
 * - `ERR_FEED_DIVERGED`: no block of the stream is on the chain. An operator must delete the stream.
 * - `ERR_FEED_UNPROVEN`: the chain is read with the proof `none`. Only proven blocks are published.
 */
export type FeedErrorCode =
  | 'ERR_FEED_UNAVAILABLE'
  | 'ERR_FEED_MESSAGE'
  | 'ERR_FEED_GAP'
  | 'ERR_FEED_MOVED'
  | 'ERR_FEED_BLOCK_TOO_LARGE'
  | 'ERR_FEED_STREAM'
  | 'ERR_FEED_DIVERGED'
  | 'ERR_FEED_UNPROVEN'

const retryable: ReadonlySet<FeedErrorCode> = new Set(['ERR_FEED_UNAVAILABLE', 'ERR_FEED_MOVED'])

/** The feed cannot be read or written. No message holds a credential. */
export class FeedError extends CoreError<FeedErrorCode> {
  override readonly name = 'FeedError'
  readonly code: FeedErrorCode
  readonly retryable: boolean
  constructor(code: FeedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.retryable = retryable.has(code)
  }
}

/** Options of {@link createFeedConnection}. */
export interface FeedConnectionOptions {
  /** `nats://host:port` or `tls://host:port`, at least one; all of the same scheme. */
  readonly servers: readonly string[]
  /** Content of a `.creds` file, or an nkey seed. @default no credentials */
  readonly credentials?: string | undefined
  /** Path of a PEM file with the CA certificates that verify the servers. @default the CA certificates of Node */
  readonly caFile?: string | undefined
  /** Client name, which the servers list. @default 'payment-integration' */
  readonly name?: string | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
}

/** A connection that renews itself. Its failures appear only in calls, never as an unhandled error. */
export interface FeedConnection {
  /** The connection. @throws FeedError `ERR_FEED_UNAVAILABLE` at once while there is none. */
  current(): NatsConnection
  /** Resolves as soon as there is a connection, the signal aborts or `close` is called. */
  ready(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Wait between two attempts to connect, in milliseconds. */
const reconnectMs = 1_000
/** Longest attempt to connect, in milliseconds. */
const connectTimeoutMs = 5_000
/** Wait between two pings, in milliseconds. A server that leaves two unanswered counts as lost. */
const pingMs = 10_000
/** Wait of `ready` between two checks for a connection, in milliseconds. */
const checkMs = 50

/**
 * Creates a connection. The first use opens it in the background, and failed attempts are repeated for ever.
 * @throws TypeError when an address is malformed, schemes are mixed, or the credentials have no known form.
 * @example
 * import { createFeedConnection } from '@payment-integration/chain-feed'
 * const connection = createFeedConnection({ servers: ['nats://feed.example:4222'] })
 */
export function createFeedConnection(options: FeedConnectionOptions): FeedConnection {
  const { servers, caFile, name = 'payment-integration', clock = systemClock } = options
  const { hosts, isTls } = parseServers(servers)
  const authenticator = options.credentials === undefined ? undefined : createAuthenticator(options.credentials)
  const stop = new AbortController()
  let connection: NatsConnection | null = null
  let isConnected = false
  let reason = 'not connected yet'

  async function followStatus(opened: NatsConnection): Promise<void> {
    for await (const { type } of opened.status()) {
      if (type === 'disconnect' || type === 'staleConnection' || type === 'close') {
        isConnected = false
        reason = 'the connection was lost'
      }
      if (type === 'reconnect') isConnected = true
    }
  }

  async function stayConnected(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        connection = await connect({
          servers: hosts,
          name,
          ...(authenticator === undefined ? {} : { authenticator }),
          ...(isTls ? { tls: caFile === undefined ? {} : { caFile } } : {}),
          maxReconnectAttempts: -1,
          // Retries after a rejected login too: an operator may correct the account at the servers.
          ignoreAuthErrorAbort: true,
          reconnectTimeWait: reconnectMs,
          timeout: connectTimeoutMs,
          pingInterval: pingMs,
          noAsyncTraces: true,
        })
        isConnected = true
        if (stop.signal.aborted) await connection.close()
        else await Promise.all([followStatus(connection), connection.closed()])
        reason = 'the connection ended'
      } catch (error) {
        // The next attempt follows; readers see that there is no connection, and why.
        reason = error instanceof Error ? error.message : 'unknown reason'
      }
      isConnected = false
      connection = null
      await clock.sleep(reconnectMs, stop.signal)
    }
  }
  let connecting: Promise<void> | null = null

  return {
    current() {
      connecting ??= stayConnected()
      if (connection !== null && isConnected) return connection
      throw new FeedError('ERR_FEED_UNAVAILABLE', `No server of the feed is connected: ${reason}.`)
    },
    async ready(signal) {
      connecting ??= stayConnected()
      while (!(isConnected || signal.aborted || stop.signal.aborted)) await clock.sleep(checkMs, signal)
    },
    async close() {
      stop.abort()
      await connection?.close().catch(() => undefined)
      await connecting
    },
  }
}

/** Parses the addresses, which must share a scheme, into hosts with ports. @throws TypeError */
function parseServers(servers: readonly string[]): { readonly hosts: string[]; readonly isTls: boolean } {
  const parsed = servers.map((server) => parseUrl(server))
  const schemes = new Set(parsed.map((url) => url?.protocol))
  const [scheme] = schemes
  const isUsable = schemes.size === 1 && (scheme === 'nats:' || scheme === 'tls:')
  if (!isUsable || parsed.some((url) => url === null || url.hostname === '' || url.username + url.password !== ''))
    throw new TypeError(
      `Servers ${parsed.map((url) => url && `${url.protocol}//${url.host}`)}: pass addresses of one scheme, nats: or tls:, without a user.`,
    )
  const hosts = parsed.map((url) => `${url?.hostname}:${url?.port === '' ? '4222' : url?.port}`)
  return { hosts, isTls: scheme === 'tls:' }
}

/** @throws TypeError */
function createAuthenticator(credentials: string): Authenticator {
  const text = credentials.trim()
  if (text.includes('BEGIN NATS USER JWT')) return credsAuthenticator(new TextEncoder().encode(credentials))
  if (/^SU[A-Z2-7]{56}$/.test(text)) return nkeyAuthenticator(new TextEncoder().encode(text))
  throw new TypeError(`The credentials have ${text.length} characters; pass a .creds file or the seed of a user nkey.`)
}
