/** Sends a request as the service does, and reports the answer; redirects are not followed. @module */
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest, Agent as TlsAgent } from 'node:https'
import type { SignedDelivery } from '../deliveries/create-deliveries.js'
import type { Answer, DoctorNoAnswer } from './report.js'

/** How requests are sent. */
export interface Sender {
  /** Sends on a new connection. Never rejects, except when the run is aborted. */
  send(delivery: SignedDelivery): Promise<Answer>
  /** Requests that only a sender with sockets can send; else null. */
  readonly sockets: Sockets | null
}

/** Requests whose connections matter. */
export interface Sockets {
  /** Sends in turn, on one connection as long as the receiver keeps it open. */
  sendOnOneConnection(deliveries: readonly SignedDelivery[]): Promise<Answer[]>
  /** Sends half of the body, then breaks the connection; at the latest after the wait for an answer. */
  breakUpload(delivery: SignedDelivery): Promise<void>
  /** Sends the body in three pieces, with a pause before each. */
  sendInPieces(delivery: SignedDelivery): Promise<Answer>
}

/** Settings of a sender. */
export interface SenderOptions {
  readonly url: URL
  /** Longest wait for an answer, in milliseconds. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/** The body of an answer is not needed. More than this many bytes of it end the wait. */
const maxAnswerBytes = 65_536
const pieceMs = 30

/** Creates the sender that opens connections of its own. */
export function createSocketSender({ url, waitMs, signal }: SenderOptions): Sender {
  const isTls = url.protocol === 'https:'
  const newAgent = (keepAlive: boolean) => (isTls ? new TlsAgent({ keepAlive }) : new Agent({ keepAlive }))

  function open(agent: Agent, { headers, body }: SignedDelivery): ClientRequest {
    const lengthOf = { 'Content-Length': String(body.byteLength) }
    const options = { method: 'POST', agent, headers: { ...headers, ...lengthOf } }
    return isTls ? httpsRequest(url, options) : httpRequest(url, options)
  }

  async function exchange(agent: Agent, delivery: SignedDelivery, write = writeWhole): Promise<Answer> {
    signal?.throwIfAborted()
    const begun = performance.now()
    const request = open(agent, delivery)
    const answer = answerTo(request, begun, waitMs, signal)
    write(request, delivery.body)
    const seen = await answer
    signal?.throwIfAborted()
    return seen
  }

  async function once(delivery: SignedDelivery, write?: typeof writeWhole): Promise<Answer> {
    const agent = newAgent(false)
    try {
      return await exchange(agent, delivery, write)
    } finally {
      agent.destroy()
    }
  }

  return {
    send: (delivery) => once(delivery),
    sockets: {
      async sendOnOneConnection(deliveries) {
        const agent = newAgent(true)
        const answers: Answer[] = []
        try {
          for (const delivery of deliveries) {
            answers.push(await exchange(agent, delivery))
            // Node returns the connection to the agent after the answer's last event.
            await new Promise((resolve) => setImmediate(resolve))
          }
        } finally {
          agent.destroy()
        }
        return answers
      },
      async breakUpload(delivery) {
        signal?.throwIfAborted()
        const agent = newAgent(false)
        const request = open(agent, delivery)
        request.on('error', () => undefined)
        request.on('response', (response) => response.resume())
        await new Promise<void>((resolve) => {
          const finish = () => {
            clearTimeout(timer)
            signal?.removeEventListener('abort', finish)
            request.destroy()
            resolve()
          }
          const timer = setTimeout(finish, waitMs)
          signal?.addEventListener('abort', finish, { once: true })
          request.once('close', finish)
          request.write(delivery.body.subarray(0, Math.ceil(delivery.body.byteLength / 2)), finish)
        })
        agent.destroy()
        signal?.throwIfAborted()
      },
      sendInPieces: (delivery) => once(delivery, writeInPieces),
    },
  }
}

function writeWhole(request: ClientRequest, body: Uint8Array): void {
  request.end(body)
}

function writeInPieces(request: ClientRequest, body: Uint8Array): void {
  const third = Math.ceil(body.byteLength / 3)
  request.setNoDelay(true)
  request.flushHeaders()
  const writeFrom = (start: number) => {
    if (request.destroyed) return
    if (start >= body.byteLength) request.end()
    else
      request.write(body.subarray(start, start + third), () => {
        setTimeout(writeFrom, pieceMs, start + third)
      })
  }
  setTimeout(writeFrom, pieceMs, 0)
}

/** The answer to a request, or why there is none. Never rejects. */
function answerTo(
  request: ClientRequest,
  begun: number,
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  return new Promise((resolve) => {
    let response: IncomingMessage | null = null
    const finish = (noAnswer: DoctorNoAnswer | null, errorCode: string | null = null) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      const { reusedSocket: reused } = request
      const ms = Math.round(performance.now() - begun)
      resolve({ ...headOf(noAnswer === null ? response : null), ms, noAnswer, errorCode, reused })
    }
    const end = (noAnswer: DoctorNoAnswer) => {
      finish(noAnswer)
      request.destroy()
    }
    const abort = () => end('failed')
    const timer = setTimeout(end, waitMs, 'timeout')
    signal?.addEventListener('abort', abort, { once: true })
    request.on('response', (received: IncomingMessage) => {
      response = received
      let bytes = 0
      received.on('data', (chunk: Uint8Array) => {
        bytes += chunk.byteLength
        if (bytes <= maxAnswerBytes) return
        finish(null)
        request.destroy()
      })
      received.on('end', () => finish(null))
      // The status has arrived, which is all that counts.
      received.on('error', () => finish(null))
      received.on('close', () => finish(null))
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (response === null) finish(noAnswerOf(error), error.code ?? null)
    })
    request.on('close', () => finish('reset'))
  })
}

function headOf(response: IncomingMessage | null): Pick<Answer, 'status' | 'location' | 'date' | 'wantsLogin'> {
  const date = Date.parse(response?.headers.date ?? '')
  return {
    status: response?.statusCode ?? null,
    location: response?.headers.location ?? null,
    date: Number.isNaN(date) ? null : date,
    wantsLogin: response?.headers['www-authenticate'] !== undefined,
  }
}

const byCode: Readonly<Record<string, DoctorNoAnswer>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ECONNREFUSED: 'rejected',
  EHOSTUNREACH: 'rejected',
  ENETUNREACH: 'rejected',
  EADDRNOTAVAIL: 'rejected',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
}

/** The kind of a connection error. */
export function noAnswerOf(error: { readonly code?: unknown }): DoctorNoAnswer {
  const code = typeof error.code === 'string' ? error.code : ''
  const known = byCode[code]
  if (known !== undefined) return known
  if (code.startsWith('HPE_')) return 'not-http'
  return /CERT|TLS|SSL|SIGNED|SIGNATURE|ISSUER|EPROTO/.test(code) ? 'tls' : 'failed'
}
