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
export type DoctorNoAnswer = 'dns' | 'refused' | 'tls' | 'reset' | 'timeout' | 'not-http' | 'failed'

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
  readonly clock: { now(): number }
}

/** As in the service: the most bytes read of a body, and how long the body of a 2xx may take, in milliseconds. */
const maxBodyBytes = 16 * 1024
const successBodyMs = 250
const pieceMs = 30

interface Head {
  readonly status: number
  readonly reused: boolean
  getField(name: string): string | null
  /** Resolves at the end of the body, or of the part that the sender reads. Never rejects. */
  readonly bodyEnd?: Promise<unknown>
}

/** Waits for an answer, or the reason why none arrives. Rejects only when the run is aborted. */
async function awaitAnswer(
  post: (signal: AbortSignal) => Promise<Head>,
  { waitMs, signal, clock }: Omit<SenderOptions, 'url'>,
): Promise<SocketAnswer> {
  signal?.throwIfAborted()
  const startedAt = performance.now()
  const getMs = () => Math.round(performance.now() - startedAt)
  const limit = startTimeLimit(waitMs, signal)
  try {
    const { status, reused, getField, bodyEnd } = await Promise.race([post(limit.signal), limit.whenAborted])
    // As in the service, an answer counts from its head on, even if the body is cut off.
    const outcome = { status, ms: getMs(), noAnswer: null, errorCode: null, reused }
    await bodyEnd
    signal?.throwIfAborted()
    return {
      ...outcome,
      location: getField('location'),
      retryAfter: getField('retry-after'),
      date: parseHttpDate(getField('date') ?? '', clock.now()),
      wantsLogin: getField('www-authenticate') !== null,
    }
  } catch (error) {
    signal?.throwIfAborted()
    const failure = limit.signal.aborted ? timeout : classifyFailure(error)
    const noFields = { location: null, retryAfter: null, date: null, wantsLogin: false }
    return { status: null, ms: getMs(), ...failure, reused: false, ...noFields }
  } finally {
    limit.end()
  }
}

/** Creates a sender that opens its own connections, and so measures times and sees connections that break. */
export function createSocketSender(options: SenderOptions): Sender {
  /** Runs some requests on an agent that keeps at most one connection open. */
  async function withConnection<Result>(run: (send: SendOnConnection) => Promise<Result>): Promise<Result> {
    const connection = openConnection(options.url)
    try {
      return await run((delivery, split) => awaitAnswer((signal) => connection.post(delivery, signal, split), options))
    } finally {
      connection.destroy()
    }
  }
  return {
    send: (delivery) => withConnection((send) => send(delivery)),
    sockets: {
      sendOnOneConnection: (deliveries) =>
        withConnection(async (send) => {
          const answers: SocketAnswer[] = []
          for (const delivery of deliveries) answers.push(await send(delivery))
          return answers
        }),
      breakUpload: (delivery) => withConnection(async (send) => void (await send(delivery, sendHalf))),
      sendInPieces: (delivery) => withConnection((send) => send(delivery, sendPieces)),
    },
  }
}

type SendOnConnection = (delivery: SignedDelivery, split?: SplitBody) => Promise<SocketAnswer>

type SplitBody = (body: Uint8Array) => AsyncIterable<Uint8Array>

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

const withUserAgent = (headers: SignedDelivery['headers']) => ({ 'User-Agent': notificationUserAgent, ...headers })

function openConnection(url: URL) {
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
      const socket = connect(options, (...result) => {
        if (result[0] === null) filterAnswers(result[1])
        callback(...result)
      }) as unknown as { destroy(): unknown }
      sockets.push(socket)
    },
  })
  return {
    async post({ headers, body }: SignedDelivery, signal: AbortSignal, split?: SplitBody): Promise<Head> {
      const socketCount = sockets.length
      const length: Record<string, string> = split === undefined ? {} : { 'content-length': String(body.byteLength) }
      const {
        statusCode,
        headers: fields,
        body: answerBody,
      } = await agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        headers: { ...withUserAgent(headers), ...length },
        body: (split?.(body) ?? body) as Uint8Array,
        signal,
      })
      return {
        status: statusCode,
        reused: sockets.length === socketCount,
        getField: (name) => [fields[name]].flat()[0] ?? null,
        bodyEnd: readBody(answerBody, statusCode < 300),
      }
    },
    /** Closes the connection, even one that is still opening. */
    destroy() {
      for (const socket of sockets) socket.destroy()
      agent.destroy().catch(() => undefined)
    },
  }
}

/** Reads and discards a body, so that its connection can serve the next request. The signal of the request ends it. */
async function readBody(body: Dispatcher.ResponseData['body'], isSuccess: boolean): Promise<void> {
  const timer = isSuccess ? setTimeout(() => body.destroy(), successBodyMs) : undefined
  await body.dump({ limit: maxBodyBytes }).catch(() => undefined)
  clearTimeout(timer)
}

const noAnswersByCode: Readonly<Record<string, DoctorNoAnswer>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EADDRNOTAVAIL: 'refused',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ERR_ANSWER_MALFORMED: 'not-http',
}

type Failure = Pick<SocketAnswer, 'noAnswer' | 'errorCode'>

const timeout: Failure = { noAnswer: 'timeout', errorCode: null }

function classifyFailure(error: unknown): Failure {
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
export function createFetchSender(fetch: DoctorFetch, options: SenderOptions): Sender {
  async function post({ headers, body }: SignedDelivery, signal: AbortSignal): Promise<Head> {
    const request = { method: 'POST', headers: withUserAgent(headers), body, redirect: 'manual', signal } as const
    const response = await fetch(options.url.href, request).catch((error) => Promise.reject(findSystemError(error)))
    release(response.body)
    return { status: response.status, reused: false, getField: (name) => response.headers.get(name) }
  }
  return { send: (delivery) => awaitAnswer((signal) => post(delivery, signal), options), sockets: null }
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
