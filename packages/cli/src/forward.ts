/** Posts a delivery to the local receiver, and says in words why it failed. @module */
import { once } from 'node:events'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { connect } from 'node:net'
import { deliveryTimeoutMs, integrationHeader, signatureHeader } from '@payment-integration/contract'
import type { Io } from './io.js'

/** The result of one POST. */
export interface Forwarded {
  /** Null: no answer arrived. */
  readonly status: number | null
  readonly ms: number
  /** The header of the answer, or null. */
  readonly retryAfter: string | null
  /** The failure and the change that mends it; null after a 2xx. */
  readonly problem: string | null
}

/** A delivery with its headers, as Node or the stream gives them. */
export interface ForwardedDelivery {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Uint8Array
}

const forwarded = ['content-type', integrationHeader.toLowerCase(), signatureHeader.toLowerCase()]

/** Most bytes of an answer that are read; its text is not used. */
const mostBytes = 65_536

/**
 * Posts the bytes with the three headers of a notification. It follows no redirect, as the service does. It never
 * rejects.
 */
export async function forward(
  delivery: ForwardedDelivery,
  { to, io }: { readonly to: URL; readonly io: Pick<Io, 'now' | 'sleep' | 'signal'> },
): Promise<Forwarded> {
  const startedAt = io.now()
  const headers = Object.entries(delivery.headers)
    .filter(([name]) => forwarded.includes(name.toLowerCase()))
    .map(([name, value]) => [name, String(value)])
  try {
    const answer = await post(
      to,
      { ...Object.fromEntries(headers), 'Content-Length': delivery.body.length },
      delivery.body,
      io,
    )
    const retryAfter = answer.headers['retry-after'] ?? null
    return {
      status: answer.statusCode ?? 0,
      ms: Math.round(io.now() - startedAt),
      retryAfter,
      problem: problemOf(answer),
    }
  } catch (error) {
    return { status: null, ms: Math.round(io.now() - startedAt), retryAfter: null, problem: problemOfError(error, to) }
  }
}

function post(
  url: URL,
  headers: Record<string, string | number>,
  body: Uint8Array,
  { sleep, signal }: Pick<Io, 'sleep' | 'signal'>,
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  const closed = new AbortController()
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent: false, signal }, (response) => {
      let size = 0
      response.on('data', ({ length }: Buffer) => {
        size += length
        if (size > mostBytes) response.destroy()
      })
      response.on('error', () => undefined)
      response.on('close', () => closed.abort())
      resolve(response)
    })
    void sleep(deliveryTimeoutMs, closed.signal).then(() => {
      if (!closed.signal.aborted) sent.destroy(new NoAnswerError())
    })
    sent.on('error', (error) => {
      closed.abort()
      reject(error)
    })
    sent.end(body)
  })
}

function problemOf({ statusCode = 0, headers }: IncomingMessage): string | null {
  if (statusCode >= 200 && statusCode < 300) return null
  if (statusCode >= 300 && statusCode < 400)
    return `a redirect to ${(headers.location ?? 'nowhere').slice(0, 200)} is not followed: use that URL`
  if (statusCode === 404) return 'the receiver has no such path: check the path of --forward-to'
  if (statusCode === 405) return 'the receiver takes no POST at this path'
  if (statusCode === 410) return 'the receiver is gone for good: the service gives up this delivery'
  if (statusCode === 413) return 'the limit of the body is too small at the receiver'
  if ([400, 401, 403].includes(statusCode))
    return 'the receiver rejected it: check its signing secret, and that it verifies the raw bytes'
  if (statusCode < 500) return 'the receiver rejected it: only 2xx is a success'
  return 'failed: see the log of the receiver'
}

/** No answer arrived in time. */
class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  readonly code = 'ERR_NO_ANSWER'
}

function problemOfError(error: unknown, { host }: URL): string {
  const { code } = error as { code?: unknown }
  if (error instanceof NoAnswerError)
    return `no answer within ${deliveryTimeoutMs / 1_000} s, after which the service gives up: answer first, work later`
  if (code === 'ECONNREFUSED') return `nothing listens at ${host}: start your receiver`
  if (code === 'ENOTFOUND') return `the name ${host} is not found`
  if (code === 'ECONNRESET') return 'the receiver closed the connection without an answer'
  return `the receiver was not reached${typeof code === 'string' ? ` (${code})` : ''}`
}

/** Null when something listens at the address, else a sentence. */
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
