/** JSON-RPC over one WebSocket that reconnects. @module */
import { ExcessiveJsonError, parseForeignJson } from '@payment-integration/contract/internal-io'
import type { Clock } from '@payment-integration/core/ports'
import type { WebSocket } from 'ws'
import {
  buildNoConnectionError,
  buildNotJsonRpcError,
  DeadlineError,
  HttpStatusError,
  ResponseTooLargeError,
  StaleConnectionError,
  splitUrl,
} from './failures.js'
import type { RpcCall, RpcOutcome, Wire, WireOptions } from './wire.js'
import { computeMaxAnswerBytes, decodeAnswer, encodeCalls, isLargeError, maxErrorBytes, parseId } from './wire.js'

/** The wait after the second failure in a row, which doubles up to a limit, in milliseconds. */
export const reconnectMs = { min: 250, max: 30_000 } as const

export function createReconnect(clock: Clock) {
  let failures = 0
  let until = 0
  return {
    /** Notes a connection that failed or closed. */
    noteFailure(): void {
      const wait = failures === 0 ? 0 : Math.min(reconnectMs.min * 2 ** (failures - 1), reconnectMs.max)
      until = clock.now() + wait
      failures += 1
    },
    /** Notes a useful answer. */
    noteSuccess(): void {
      failures = 0
    },
    waitMs: () => Math.max(0, until - clock.now()),
  }
}

interface SocketOptions extends WireOptions {
  /** Called with the size of each message. */
  readonly onBytes?: ((bytes: number) => void) | undefined
  /** Called with messages that answer no request. */
  readonly onNotification?: ((message: unknown) => void) | undefined
}

export type Socket = ReturnType<typeof wrapSocket>

interface Pending {
  readonly firstId: number
  readonly count: number
  readonly maxBytes: number
  resolve(outcomes: readonly (RpcOutcome | null)[]): void
  reject(error: Error): void
  /** Stops listening to the caller's signal, which may outlive the request. */
  forget(): void
}

/**
 * Connects. The connection keeps the process alive only while a request is in flight.
 * @throws The connection's error, for `toRequestError`; the signal's reason when it aborts first.
 */
export async function openSocket(options: SocketOptions, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  const { url, headers } = splitUrl(options.url)
  // Loaded on demand: most chains are read over HTTP.
  const { WebSocket } = await import('ws')
  signal.throwIfAborted()
  const socket = new WebSocket(url, {
    headers: { ...headers, 'user-agent': 'payment-integration' },
    maxPayload: options.maxResponseBytes,
    // On a local connection compression costs more time than it saves.
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

function wrapSocket(socket: WebSocket, { maxResponseBytes, onBytes, onNotification }: SocketOptions) {
  const pending = new Map<number, Pending>()
  let keepProcessAlive = (_wanted: boolean) => {}
  let lastId = 0
  let messages = 0
  let reason: Error | undefined

  function settle(request: Pending | undefined): void {
    if (request === undefined) return
    pending.delete(request.firstId)
    request.forget()
    if (pending.size === 0) keepProcessAlive(false)
  }

  function receive(bytes: Buffer): void {
    messages += 1
    onBytes?.(bytes.length)
    const isError = isLargeError(bytes)
    // A notification has the limit of an error.
    const maxBytes = Math.max(maxErrorBytes, ...[...pending.values()].map((each) => each.maxBytes))
    if (isError || bytes.length > maxBytes) {
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
      if (bytes.length > request.maxBytes) throw new ResponseTooLargeError(request.maxBytes)
      request.resolve(decodeAnswer(answer, request.firstId, request.count))
    } catch (error) {
      request.reject(error as Error)
    }
  }

  /** Rejects the request of an oversized message, by its id alone: parsing is the cost that the limit avoids. */
  function rejectUnread(bytes: Buffer, isError: boolean): void {
    const id = findId(bytes)
    if (id === null) throw new ResponseTooLargeError(maxErrorBytes)
    const request = [...pending.values()].find((each) => hasId(each, id))
    settle(request)
    request?.reject(new ResponseTooLargeError(isError ? maxErrorBytes : request.maxBytes))
  }

  socket.on('upgrade', ({ socket: stream }) => {
    keepProcessAlive = (wanted) => void (wanted ? stream.ref() : stream.unref())
    keepProcessAlive(pending.size > 0)
  })
  socket.on('message', (data) => {
    try {
      receive(data as Buffer) // as `binaryType` is by default
    } catch (error) {
      reason ??= namedErrors.some((known) => error instanceof known) ? (error as Error) : buildNotJsonRpcError()
      socket.terminate()
    }
  })
  socket.on('error', (error) => {
    const isTooLarge = 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
    reason ??= isTooLarge ? new ResponseTooLargeError(maxResponseBytes) : error
  })
  socket.on('unexpected-response', (request, response) => {
    reason ??= new HttpStatusError(response.statusCode ?? 0, response.headers['retry-after'] ?? null)
    request.destroy()
    socket.terminate()
  })
  /** Resolves with the reason when the connection is closed. */
  const ended = new Promise<Error>((resolve) => {
    socket.on('close', () => {
      const error = reason ?? buildNoConnectionError()
      for (const request of [...pending.values()]) {
        settle(request)
        request.reject(error)
      }
      resolve(error)
    })
  })

  return {
    ended,
    messageCount: () => messages,
    close: () => socket.terminate(),
    /** As `Wire.send`. Rejects when the connection closes first. */
    send(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly (RpcOutcome | null)[]> {
      const firstId = lastId + 1
      lastId += calls.length
      return new Promise((resolve, reject) => {
        if (socket.readyState !== socket.OPEN) return reject(reason ?? buildNoConnectionError())
        const maxBytes = computeMaxAnswerBytes(calls, maxResponseBytes)
        const onAbort = () => settle(pending.get(firstId))
        const forget = () => signal.removeEventListener('abort', onAbort)
        pending.set(firstId, { firstId, count: calls.length, maxBytes, resolve, reject, forget })
        keepProcessAlive(true)
        signal.addEventListener('abort', onAbort, { once: true })
        socket.send(encodeCalls(calls, firstId))
      })
    },
  }
}

/** Errors of a message that are reported as they are; any other counts as not JSON-RPC. */
const namedErrors = [SyntaxError, ResponseTooLargeError, ExcessiveJsonError]

/** The id of a message, where nodes write it: among its first members, or as its last one. */
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

/** The request that a message answers. A message without an id answers the only request in flight. */
function findRequest(answer: unknown, pending: ReadonlyMap<number, Pending>): Pending | undefined {
  const items: readonly unknown[] = Array.isArray(answer) ? answer : [answer]
  const ids = items.map(parseId).filter((id) => !Number.isNaN(id))
  for (const request of pending.values()) if (ids.some((id) => hasId(request, id))) return request
  const isWithoutId = ids.length === 0 && typeof answer === 'object' && answer !== null && !('method' in answer)
  const [onlyRequest, another] = pending.values()
  return isWithoutId && another === undefined ? onlyRequest : undefined
}

/**
 * Makes a wire that connects with the first request. It rejects requests during the wait after a failed connection, and
 * closes a connection that is silent while a request times out.
 */
export function createSocketWire(options: WireOptions & { readonly clock: Clock }): Wire {
  const { url, maxResponseBytes, clock } = options
  const reconnect = createReconnect(clock)
  let isClosed = false
  let current: ReturnType<typeof connect> | null = null
  /** An open connection was closed; the next request rejects with StaleConnectionError. */
  let isStale = false
  let receivedBytes = 0

  function connect() {
    if (isClosed || reconnect.waitMs() > 0) throw buildNoConnectionError()
    const openAbort = new AbortController()
    const onBytes = (bytes: number) => {
      receivedBytes += bytes
    }
    const opened = openSocket({ url, maxResponseBytes, onBytes }, openAbort.signal)
    const connection = { opened, openAbort }
    const onEnded = () => {
      if (current === connection) current = null
      reconnect.noteFailure()
    }
    opened
      .then(async (socket) => {
        await socket.ended
        isStale = true
      })
      .then(onEnded, onEnded)
    return connection
  }

  return {
    async send(calls, signal) {
      if (isStale && !isClosed) {
        isStale = false
        throw new StaleConnectionError()
      }
      current ??= connect()
      const { opened, openAbort } = current
      let socket: Socket | undefined
      let messagesBefore = 0
      const abandon = () => {
        if (!(signal.reason instanceof DeadlineError)) return
        if (socket === undefined) openAbort.abort(signal.reason)
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
      isClosed = true
      current?.openAbort.abort(buildNoConnectionError())
      current?.opened.then((socket) => socket.close()).catch(() => {})
    },
  }
}
