/** JSON-RPC over one WebSocket that is opened again when it breaks. @module */

import { ExcessiveJsonError, parseForeignJson } from '@payment-integration/contract/internal-io'
import type { Clock } from '@payment-integration/core/ports'
import type { RawData, WebSocket } from 'ws'
import {
  DeadlineError,
  HttpStatusError,
  NoConnectionError,
  NotJsonRpcError,
  StaleConnectionError,
  splitUrl,
  TooLargeError,
} from './failures.js'
import {
  computeMaxAnswerBytes,
  decodeAnswer,
  encodeCalls,
  isLargeError,
  maxErrorBytes,
  parseId,
  type RpcCall,
  type RpcOutcome,
  type Wire,
} from './wire.js'

/** No wait after a success; then the wait doubles with each failure in a row, between these limits, in milliseconds. */
export const reconnectMs = { first: 250, last: 30_000 } as const

/** The waits between connections to one node. */
interface Reconnect {
  /** A connection could not be made, or ended. */
  noteFailure(): void
  /** The connection is of use. */
  noteSuccess(): void
  /** How long to wait now, in milliseconds. */
  waitMs(): number
}

/** Starts without a wait. */
export function createReconnect(clock: Clock): Reconnect {
  let failures = 0
  let until = 0
  return {
    noteFailure() {
      const wait = failures === 0 ? 0 : Math.min(reconnectMs.first * 2 ** (failures - 1), reconnectMs.last)
      until = clock.now() + wait
      failures += 1
    },
    noteSuccess() {
      failures = 0
    },
    waitMs: () => Math.max(0, until - clock.now()),
  }
}

/** How to reach the node. */
interface SocketOptions {
  /** `ws:` or `wss:`; credentials become a Basic header. */
  readonly url: string
  /** Largest accepted message of any kind, in bytes. Only a larger one ends the connection. */
  readonly maxResponseBytes: number
  /** Told of the size of each message. */
  readonly onBytes?: ((bytes: number) => void) | undefined
  /** Told of messages that answer no request. */
  readonly onNotification?: ((message: unknown) => void) | undefined
}

/** An open connection. */
export interface Socket {
  /** As `Wire.send`. Rejects with the reason why the connection ended, if it ends first. */
  send(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly (RpcOutcome | null)[]>
  /** How many messages came so far. */
  messageCount(): number
  /** Resolves with the reason when the connection has ended. */
  readonly ended: Promise<Error>
  /** Ends the connection at once. */
  close(): void
}

interface Pending {
  readonly firstId: number
  readonly count: number
  /** Most bytes of its answer. */
  readonly maxBytes: number
  resolve(outcomes: readonly (RpcOutcome | null)[]): void
  reject(error: Error): void
  /** Stops listening to the caller's signal, which may outlive the request. */
  forget(): void
}

/**
 * Connects. While nothing is asked the connection does not keep the process alive.
 * @throws What the connection failed with, for `describeFailure`; the signal's reason when it aborted first.
 */
export async function openSocket(options: SocketOptions, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  const { url, headers } = splitUrl(options.url)
  // Loaded here, as most chains are read over HTTP.
  const { WebSocket } = await import('ws')
  signal.throwIfAborted()
  const socket = new WebSocket(url, {
    headers: { ...headers, 'user-agent': 'payment-integration' },
    maxPayload: options.maxResponseBytes,
    // Packing costs a node beside us more time than it saves.
    perMessageDeflate: url.protocol === 'wss:',
  })
  const connection = wrapSocket(socket, options)
  const abort = () => socket.terminate()
  signal.addEventListener('abort', abort, { once: true })
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve)
      connection.ended.then(reject, reject)
    })
    return connection
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function wrapSocket(socket: WebSocket, { maxResponseBytes, onBytes, onNotification }: SocketOptions): Socket {
  const pending = new Map<number, Pending>()
  let keepProcessAlive = (_wanted: boolean) => {}
  let lastId = 0
  let messages = 0
  let reason: Error | undefined
  let end: (error: Error) => void = () => {}
  const ended = new Promise<Error>((resolve) => {
    end = resolve
  })

  function settle(request: Pending | undefined): void {
    if (request === undefined) return
    pending.delete(request.firstId)
    request.forget()
    if (pending.size === 0) keepProcessAlive(false)
  }

  function receive(data: RawData): void {
    messages += 1
    const bytes = toBuffer(data)
    onBytes?.(bytes.length)
    const isError = isLargeError(bytes)
    if (isError || bytes.length > computeMaxBytes(pending)) {
      rejectUnread(bytes, isError)
      return
    }
    const answer = parseForeignJson(bytes)
    const request = findRequest(answer, pending)
    if (request === undefined) {
      onNotification?.(answer)
      return
    }
    settle(request)
    try {
      if (bytes.length > request.maxBytes) throw new TooLargeError(request.maxBytes)
      request.resolve(decodeAnswer(answer, request.firstId, request.count))
    } catch (error) {
      request.reject(error instanceof Error ? error : new NotJsonRpcError())
    }
  }

  /**
   * Rejects the request that a message answers, by its number alone: parsing the message would cost what the bound is
   * to spare. A message for a request that was given up is passed over.
   * @throws {@link TooLargeError} When the message has no number where one is looked for.
   */
  function rejectUnread(bytes: Buffer, isError: boolean): void {
    const id = findId(bytes)
    if (id === null) throw new TooLargeError(maxErrorBytes)
    const request = [...pending.values()].find((each) => hasId(each, id))
    settle(request)
    request?.reject(new TooLargeError(isError ? maxErrorBytes : request.maxBytes))
  }

  socket.on('upgrade', ({ socket: stream }) => {
    keepProcessAlive = (wanted) => void (wanted ? stream.ref() : stream.unref())
    keepProcessAlive(pending.size > 0)
  })
  socket.on('message', (data) => {
    try {
      receive(data)
    } catch (error) {
      reason ??= namedErrors.some((known) => error instanceof known) ? (error as Error) : new NotJsonRpcError()
      socket.terminate()
    }
  })
  socket.on('error', (error) => {
    const large = 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
    reason ??= large ? new TooLargeError(maxResponseBytes) : error
  })
  socket.on('unexpected-response', (request, response) => {
    reason ??= new HttpStatusError(response.statusCode ?? 0, response.headers['retry-after'] ?? null)
    request.destroy()
    socket.terminate()
  })
  socket.on('close', () => {
    const error = reason ?? new NoConnectionError()
    for (const request of [...pending.values()]) {
      settle(request)
      request.reject(error)
    }
    end(error)
  })

  return {
    ended,
    messageCount: () => messages,
    close: () => socket.terminate(),
    send(calls, signal) {
      const firstId = lastId + 1
      lastId += calls.length
      return new Promise((resolve, reject) => {
        if (socket.readyState !== socket.OPEN) return reject(reason ?? new NoConnectionError())
        const maxBytes = computeMaxAnswerBytes(calls, maxResponseBytes)
        const giveUp = () => settle(pending.get(firstId))
        const forget = () => signal.removeEventListener('abort', giveUp)
        pending.set(firstId, { firstId, count: calls.length, maxBytes, resolve, reject, forget })
        keepProcessAlive(true)
        signal.addEventListener('abort', giveUp, { once: true })
        socket.send(encodeCalls(calls, firstId))
      })
    },
  }
}

/** Messages that end a connection and are named as what they are. */
const namedErrors = [SyntaxError, TooLargeError, ExcessiveJsonError]

function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}

/** Most bytes that a message may have: those of the largest answer that is waited for, or of a notification. */
function computeMaxBytes(pending: ReadonlyMap<number, Pending>): number {
  let most = maxErrorBytes
  for (const { maxBytes } of pending.values()) most = Math.max(most, maxBytes)
  return most
}

/** The number of a message, where nodes write it: among its first members, or as its last one. */
function findId(bytes: Buffer): number | null {
  const start = bytes.toString('latin1', 0, 128)
  const end = bytes.toString('latin1', Math.max(0, bytes.length - 64))
  const [, text] =
    /"id"\s{0,8}:\s{0,8}"?(\d{1,16})/.exec(start) ??
    /"id"\s{0,8}:\s{0,8}"?(\d{1,16})"?\s{0,8}\}\s{0,8}\]?\s{0,8}$/.exec(end) ??
    []
  return text === undefined ? null : Number(text)
}

function hasId({ firstId, count }: Pending, id: number): boolean {
  return id >= firstId && id < firstId + count
}

/** The request that a message answers. One without a number can only be for the lone request in flight. */
function findRequest(answer: unknown, pending: ReadonlyMap<number, Pending>): Pending | undefined {
  const items: readonly unknown[] = Array.isArray(answer) ? answer : [answer]
  const ids = items.map(parseId).filter((id) => !Number.isNaN(id))
  for (const request of pending.values()) if (ids.some((id) => hasId(request, id))) return request
  const isWithoutId = ids.length === 0 && typeof answer === 'object' && answer !== null && !('method' in answer)
  const [onlyRequest, another] = pending.values()
  return isWithoutId && another === undefined ? onlyRequest : undefined
}

/** How to reach the node. */
interface SocketWireOptions {
  /** `ws:` or `wss:`. */
  readonly url: string
  readonly maxResponseBytes: number
  readonly clock: Clock
}

/**
 * Opens a way to a node, and connects with the first request. Between failed connections it waits, longer each time,
 * and rejects requests meanwhile. A connection that is silent while a request times out is closed.
 */
export function socketWire({ url, maxResponseBytes, clock }: SocketWireOptions): Wire {
  const reconnect = createReconnect(clock)
  let closed = false
  let current: Connection | null = null
  /** A connection that was made has ended, and the next request is to hear of it. */
  let isStale = false
  let receivedBytes = 0

  const onBytes = (bytes: number) => {
    receivedBytes += bytes
  }

  function forget(connection: Connection): void {
    if (current === connection) current = null
    reconnect.noteFailure()
  }

  function connect(): Connection {
    if (closed || reconnect.waitMs() > 0) throw new NoConnectionError()
    const giveUp = new AbortController()
    const opened = openSocket({ url, maxResponseBytes, onBytes }, giveUp.signal)
    const connection = { opened, giveUp }
    const ended = () => forget(connection)
    opened
      .then(async (socket) => {
        await socket.ended
        isStale = true
      })
      .then(ended, ended)
    return connection
  }

  return {
    async send(calls, signal) {
      if (isStale && !closed) {
        isStale = false
        throw new StaleConnectionError()
      }
      current ??= connect()
      const { opened, giveUp } = current
      let socket: Socket | undefined
      let messagesBefore = 0
      const abandon = () => {
        if (!(signal.reason instanceof DeadlineError)) return
        if (socket === undefined) giveUp.abort(signal.reason)
        else if (socket.messageCount() === messagesBefore) socket.close()
      }
      signal.addEventListener('abort', abandon, { once: true })
      try {
        socket = await opened
        signal.throwIfAborted()
        messagesBefore = socket.messageCount()
        const outcomes = await socket.send(calls, signal)
        reconnect.noteSuccess()
        return outcomes
      } finally {
        signal.removeEventListener('abort', abandon)
      }
    },
    receivedBytes: () => receivedBytes,
    close() {
      closed = true
      current?.giveUp.abort(new NoConnectionError())
      current?.opened.then((socket) => socket.close()).catch(() => {})
    },
  }
}

interface Connection {
  readonly opened: Promise<Socket>
  readonly giveUp: AbortController
}
