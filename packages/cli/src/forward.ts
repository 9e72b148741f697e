/** Posts a delivery to the local receiver, and describes a failure in words. @module */
import { once } from 'node:events'
import { connect } from 'node:net'
import { deliveryTimeoutMs, integrationHeader, signatureHeader } from '@payment-integration/contract'
import { createSocketSender, type SocketAnswer } from '@payment-integration/testing/doctor'
import type { Io } from './io.js'

export type Forwarded = Awaited<ReturnType<typeof forward>>

/** A delivery, with its headers in the form of Node or of the stream. */
export interface ForwardedDelivery {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Uint8Array
}

const forwardedHeaders = ['content-type', integrationHeader.toLowerCase(), signatureHeader.toLowerCase()]

interface ForwardOptions {
  readonly to: URL
  readonly io: Pick<Io, 'now' | 'signal'>
  /** The longest wait for an answer, in milliseconds. @default the timeout of the service */
  readonly timeoutMs?: number | undefined
}

/** Posts the bytes with a notification's headers, and reads the answer as the service does. Never rejects. */
export async function forward(
  delivery: ForwardedDelivery,
  { to, io, timeoutMs: waitMs = deliveryTimeoutMs }: ForwardOptions,
) {
  const startedAt = io.now()
  const headers = Object.entries(delivery.headers)
    .filter(([name]) => forwardedHeaders.includes(name.toLowerCase()))
    .map(([name, value]) => [name, String(value)])
  const signed = { headers: Object.fromEntries(headers), body: Uint8Array.from(delivery.body) }
  const sender = createSocketSender({ url: to, waitMs, signal: io.signal, clock: io })
  const answer = await sender.send(signed).catch(() => null)
  return {
    /** Null: no answer arrived. */
    status: answer?.status ?? null,
    ms: Math.round(io.now() - startedAt),
    retryAfter: answer?.retryAfter ?? null,
    /** The failure and its remedy; null after a 2xx. */
    problem: answer === null ? 'the command was stopped' : describeProblem(answer, to),
  }
}

function describeProblem(answer: SocketAnswer, to: URL): string | null {
  const { status, location } = answer
  if (status === null) return describeNoAnswer(answer, to)
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400)
    return `a redirect to ${(location ?? 'nowhere').slice(0, 200)} is not followed: use that URL`
  if (status === 404) return 'the receiver has no such path: check the path of --forward-to'
  if (status === 405) return 'the receiver does not accept POST at this path'
  if (status === 410) return 'the receiver is gone for good: the service gives up on this delivery'
  if (status === 413) return 'the body limit of the receiver is too low'
  if ([400, 401, 403].includes(status))
    return 'the receiver rejected it: check its signing secret, and that it verifies the raw bytes'
  if (status < 500) return 'the receiver rejected it: only 2xx is a success'
  return 'failed: see the log of the receiver'
}

function describeNoAnswer({ noAnswer, errorCode }: SocketAnswer, { host }: URL): string {
  if (noAnswer === 'timeout')
    return `no answer within ${deliveryTimeoutMs / 1_000} s, after which the service gives up: answer first, work later`
  if (noAnswer === 'not-http')
    return 'the answer is not well-formed HTTP/1.1, which the service records as malformed_answer'
  if (errorCode === 'ECONNREFUSED') return `nothing listens at ${host}: start your receiver`
  if (errorCode === 'ENOTFOUND') return `the name ${host} is not found`
  if (errorCode === 'ECONNRESET') return 'the receiver closed the connection without an answer'
  return `the receiver was not reached${errorCode === null ? '' : ` (${errorCode})`}`
}

/** Connects to the address. Null when something listens there, else a sentence. */
export async function checkListening({ hostname, host, port, protocol }: URL): Promise<string | null> {
  const name = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({ host: name, port: Number(port) || (protocol === 'https:' ? 443 : 80) })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(deliveryTimeoutMs) })
    return null
  } catch {
    return `Nothing listens at ${host} yet: start your receiver; deliveries are retried until it answers.`
  } finally {
    socket.destroy()
  }
}
