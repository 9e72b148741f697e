/** Sends requests and reads answers as the service does. Source: docs/interface.md 6. @module */
import { setTimeout as sleep } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import { notificationUserAgent } from '@payment-integration/contract'
import {
  filterAnswers,
  maxAnswerHeadBytes,
  parseHttpDate,
  startTimeLimit,
} from '@payment-integration/contract/internal-io'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import type { SignedDelivery } from '../deliveries.js'

/** Why no answer arrived. */
export type DoctorNoAnswer = 'dns' | 'rejected' | 'tls' | 'reset' | 'timeout' | 'not-http' | 'failed'

/** The receiver's answer, or the reason why none arrived. Bodies and headers are not kept. */
export interface DoctorAnswer {
  /** HTTP status, or null without an answer. */
  readonly status: number | null
  /** Milliseconds from the request to the head of the answer. */
  readonly ms: number
  /** Why there is no answer, or null. */
  readonly noAnswer: DoctorNoAnswer | null
}

/** An answer with further facts, which the report omits. */
export interface SocketAnswer extends DoctorAnswer {
  /** The target of a redirect, or null. */
  readonly location: string | null
  /** The header `Retry-After`, or null. */
  readonly retryAfter: string | null
  /** The receiver's clock, in milliseconds since the epoch, or null. */
  readonly date: number | null
  /** Whether the answer asks for credentials. */
  readonly wantsLogin: boolean
  /** Whether the connection had carried an earlier request. */
  readonly reused: boolean
  /** The error code of the system, such as `ENOTFOUND`, or null. */
  readonly errorCode: string | null
}

export interface Sender {
  /** Sends on a new connection. Never rejects, except when the run is aborted. */
  send(delivery: SignedDelivery): Promise<SocketAnswer>
  /** Ways of sending that need sockets; null for a sender without sockets. */
  readonly sockets: Sockets | null
}

export interface Sockets {
  /** Sends requests in turn, on one connection as long as the receiver keeps that open. */
  sendOnOneConnection(deliveries: readonly SignedDelivery[]): Promise<SocketAnswer[]>
  /** Sends half of the body, then breaks the connection, at the latest when the wait for an answer ends. */
  breakUpload(delivery: SignedDelivery): Promise<void>
  /** Sends the body in three pieces, with a pause before each. */
  sendInPieces(delivery: SignedDelivery): Promise<SocketAnswer>
}

interface SenderOptions {
  readonly url: URL
  /** Longest wait for an answer, in milliseconds. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
  /** Unix time in milliseconds. */
  readonly now: () => number
}

/** As in the service: the most bytes read of a body, and how long the body of a 2xx may take, in milliseconds. */
const maxBodyBytes = 16 * 1024
const successBodyMs = 250
const pieceMs = 30

/**
 * Creates a sender that opens its own connections.
 * @example createSocketSender({ url, waitMs: 30_000, signal: undefined, now: Date.now })
 */
export function createSocketSender({ url, waitMs, signal, now }: SenderOptions): Sender {
  const target = { origin: url.origin, path: `${url.pathname}${url.search}`, method: 'POST' } as const

  async function exchange(wire: Wire, { headers, body }: SignedDelivery, pieces?: Pieces): Promise<SocketAnswer> {
    signal?.throwIfAborted()
    const length = { 'content-length': String(body.byteLength) }
    const request = {
      ...target,
      headers: { ...withUserAgent(headers), ...(pieces === undefined ? {} : length) },
      body: pieces?.(body) ?? body,
    } as Dispatcher.DispatchOptions
    const answer = await awaitAnswer(wire, request, { waitMs, signal, now })
    signal?.throwIfAborted()
    return answer
  }

  async function once(delivery: SignedDelivery, pieces?: Pieces): Promise<SocketAnswer> {
    const wire = openWire()
    try {
      return await exchange(wire, delivery, pieces)
    } finally {
      wire.destroy()
    }
  }

  return {
    send: (delivery) => once(delivery),
    sockets: {
      async sendOnOneConnection(deliveries) {
        const wire = openWire()
        const answers: SocketAnswer[] = []
        try {
          for (const delivery of deliveries) answers.push(await exchange(wire, delivery))
        } finally {
          wire.destroy()
        }
        return answers
      },
      async breakUpload(delivery) {
        await once(delivery, sendHalf)
      },
      sendInPieces: (delivery) => once(delivery, sendPieces),
    },
  }
}

const withUserAgent = (headers: Readonly<Record<string, string>>): Record<string, string> => ({
  'User-Agent': notificationUserAgent,
  ...headers,
})

type Pieces = (body: Uint8Array) => AsyncIterable<Uint8Array>

async function* sendPieces(body: Uint8Array): AsyncGenerator<Uint8Array> {
  const third = Math.ceil(body.byteLength / 3)
  for (let start = 0; start < body.byteLength; start += third) {
    await sleep(pieceMs)
    yield body.subarray(start, start + third)
  }
}

async function* sendHalf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body.subarray(0, Math.ceil(body.byteLength / 2))
  await sleep(pieceMs)
  throw new Error('The upload is broken.')
}

type Wire = ReturnType<typeof openWire>

/** Creates an agent that keeps at most one connection open. */
function openWire() {
  // Set explicitly, because environment variables could weaken these settings.
  const secureContext = createSecureContext({ minVersion: 'TLSv1.2' })
  const connect = buildConnector({ timeout: 0, secureContext, rejectUnauthorized: true, maxCachedSessions: 0 })
  const sockets: { destroy(): unknown }[] = []
  const agent = new Agent({
    connections: 1,
    maxHeaderSize: maxAnswerHeadBytes,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(options, callback) {
      const socket = connect(options, (...made) => {
        if (made[0] === null) filterAnswers(made[1])
        callback(...made)
      }) as unknown as { destroy(): unknown }
      sockets.push(socket)
    },
  })
  return {
    agent,
    connections: () => sockets.length,
    /** Closes the connection, even one that is still opening. */
    destroy() {
      for (const socket of sockets) socket.destroy()
      agent.destroy().catch(() => undefined)
    },
  }
}

/**
 * Reads the answer to a request, or the reason why none arrived. As in the service, an answer counts from its head on,
 * even if the body is cut off. Never rejects.
 */
function awaitAnswer(
  { agent, connections }: Wire,
  request: Dispatcher.DispatchOptions,
  { waitMs, signal, now }: Omit<SenderOptions, 'url'>,
): Promise<SocketAnswer> {
  return new Promise((resolve) => {
    const startedAt = performance.now()
    const before = connections()
    const passed = () => Math.round(performance.now() - startedAt)
    let head: SocketAnswer | null = null
    let controller: Dispatcher.DispatchController | undefined
    let isOver = false
    let bytes = 0
    const finish = (answer: SocketAnswer) => {
      isOver = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      resolve(answer)
    }
    const end = (noAnswer: DoctorNoAnswer) => {
      if (!isOver) finish(head ?? { ...nothing, ms: passed(), noAnswer })
      controller?.abort(new Error('The wait is over.'))
    }
    const abort = () => end('failed')
    let timer = setTimeout(end, waitMs, 'timeout')
    signal?.addEventListener('abort', abort, { once: true })
    agent.dispatch(request, {
      onRequestStart(started) {
        controller = started
        if (isOver) started.abort(new Error('The wait is over.'))
      },
      onResponseStart(_, status, fields) {
        const answer = toAnswer(status, (name) => [fields[name]].flat()[0] ?? null, now())
        head = { ...answer, ms: passed(), reused: connections() === before }
        if (status >= 300 || waitMs - passed() <= successBodyMs) return
        clearTimeout(timer)
        timer = setTimeout(end, successBodyMs, 'timeout')
      },
      onResponseData(_, { byteLength }) {
        bytes += byteLength
        if (bytes > maxBodyBytes) end('failed')
      },
      onResponseEnd: () => end('failed'),
      onResponseError(_, error) {
        if (!isOver) finish(head ?? { ...nothing, ms: passed(), ...classifyFailure(error) })
      },
    })
  })
}

const nothing = {
  status: null,
  noAnswer: null,
  location: null,
  retryAfter: null,
  date: null,
  wantsLogin: false,
  reused: false,
  errorCode: null,
} as const satisfies Omit<SocketAnswer, 'ms'>

function toAnswer(status: number, getField: (name: string) => string | null, now: number): Omit<SocketAnswer, 'ms'> {
  return {
    ...nothing,
    status,
    location: getField('location'),
    retryAfter: getField('retry-after'),
    date: parseHttpDate(getField('date') ?? '', now),
    wantsLogin: getField('www-authenticate') !== null,
  }
}

const noAnswersByCode: Readonly<Record<string, DoctorNoAnswer>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ECONNREFUSED: 'rejected',
  EHOSTUNREACH: 'rejected',
  ENETUNREACH: 'rejected',
  EADDRNOTAVAIL: 'rejected',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ERR_ANSWER_MALFORMED: 'not-http',
}

/** The kind and the code of a connection error. */
function classifyFailure(error: unknown): Pick<SocketAnswer, 'noAnswer' | 'errorCode'> {
  const { code } = Object(error) as { readonly code?: unknown }
  if (typeof code !== 'string') return { noAnswer: 'failed', errorCode: null }
  // Undici's code for a connection that the peer closed.
  const errorCode = code === 'UND_ERR_SOCKET' ? 'ECONNRESET' : code
  const isTls = /CERT|TLS|SSL|SIGNED|SIGNATURE|ISSUER|EPROTO/.test(errorCode)
  return { noAnswer: noAnswersByCode[errorCode] ?? (isTls ? 'tls' : 'failed'), errorCode }
}

/** The second argument of {@link DoctorFetch}, after the URL. */
export interface DoctorRequest {
  readonly method: 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer>
  readonly redirect: 'manual'
  readonly signal: AbortSignal
}

/** The answer of {@link DoctorFetch}: a `Response` fits. */
export interface DoctorResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  /** A stream with `cancel` is canceled unread, which frees the connection. */
  readonly body?: unknown
}

/** Sends one request: `fetch`, or a function that calls the handler under test. */
export type DoctorFetch = (url: string, request: DoctorRequest) => Promise<DoctorResponse>

/** Creates a sender without sockets, which calls a function. */
export function createFetchSender(fetch: DoctorFetch, { url, waitMs, signal, now }: SenderOptions): Sender {
  async function send({ headers, body }: SignedDelivery): Promise<SocketAnswer> {
    signal?.throwIfAborted()
    const startedAt = performance.now()
    const limit = startTimeLimit(waitMs, signal)
    const request = { method: 'POST', headers: withUserAgent(headers), body, redirect: 'manual' } as const
    const answered = fetch(url.href, { ...request, signal: limit.signal })
    // Also cancels the body of an answer that comes too late.
    answered.then(
      (response) => release(response.body),
      () => undefined,
    )
    const first = await Promise.race([answered, limit.over]).then(
      (response) => ({ response, error: null }),
      (error: unknown) => ({ response: null, error }),
    )
    const isLate = limit.signal.aborted
    limit.end()
    const ms = Math.round(performance.now() - startedAt)
    signal?.throwIfAborted()
    if (first.response === null)
      return { ...nothing, ms, ...(isLate ? { noAnswer: 'timeout' } : classifyFailure(findSystemError(first.error))) }
    const { status, headers: fields } = first.response
    return { ...toAnswer(status, (name) => fields.get(name), now()), ms }
  }
  return { send, sockets: null }
}

/** Cancels a body, because only the head of an answer counts. A body that is being read stays untouched. */
function release(body: unknown): void {
  // No `instanceof`: the caller's fetch may return a stream of another realm.
  const { locked, cancel } = Object(body) as Partial<ReadableStream>
  if (locked === false && typeof cancel === 'function') cancel.call(body).catch(() => undefined)
}

/** `fetch` puts the system's error into `cause`. */
function findSystemError(error: unknown): unknown {
  const { cause } = Object(error) as { cause?: unknown }
  return (Object(cause) as { code?: unknown }).code === undefined ? error : cause
}
