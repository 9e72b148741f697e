/** Forwards deliveries, byte for byte, to the receiver that an integrator is writing. @module */
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'

/** The answer of a receiver to one forwarded delivery. */
export interface ForwardAnswer {
  /** HTTP status, or null when none arrived in time. */
  readonly status: number | null
  readonly retryAfter: string | null
  readonly latencyMs: number
  /** The problem and what to do about it, in one sentence; null for a 2xx in time. */
  readonly advice: string | null
}

/** Forwards to one receiver. */
export interface Forwarder {
  readonly url: string
  /** Null when something listens at the address, else a sentence. */
  check(): Promise<string | null>
  /** Sends one delivery. Never rejects. */
  forward(delivery: { readonly headers: IncomingHttpHeaders; readonly body: Uint8Array }): Promise<ForwardAnswer>
}

/** Headers that belong to a connection and not to the delivery. */
const ofConnection = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'expect'])

/** The service gives up at this time, so a later answer is a failure. Source: docs/interface.md 6. */
const timeoutMs = 5_000

/** Longest text of a receiver that is printed, in characters. */
const maxLocation = 200

/** Creates a forwarder. @param now - A clock in milliseconds. */
export function createForwarder(url: string, now: () => number): Forwarder {
  const { hostname, port, protocol, host } = new URL(url)
  return {
    url,
    async check() {
      const name = hostname.replace(/^\[|\]$/g, '')
      const socket = connect({ host: name, port: Number(port) || (protocol === 'https:' ? 443 : 80) })
      try {
        await once(socket, 'connect', { signal: AbortSignal.timeout(timeoutMs) })
        return null
      } catch {
        return `Nothing listens on ${host} yet: start your receiver; deliveries are retried until it answers.`
      } finally {
        socket.destroy()
      }
    },
    async forward({ headers, body }) {
      const startedAt = now()
      const end = (status: number | null, advice: string | null, retryAfter: string | null = null) => ({
        status,
        retryAfter,
        latencyMs: now() - startedAt,
        advice,
      })
      const sent: [string, string][] = Object.entries(headers)
        .filter(([name]) => !ofConnection.has(name))
        .map(([name, value]) => [name, String(value)])
      try {
        const answer = await fetch(url, {
          method: 'POST',
          headers: sent,
          body: new Uint8Array(body),
          redirect: 'manual',
          signal: AbortSignal.timeout(timeoutMs),
        })
        // The connection is free again only when the body is read or cancelled.
        await answer.body?.cancel()
        const advice = adviceOn(answer.status, answer.headers.get('location'))
        return end(answer.status, advice, answer.headers.get('retry-after'))
      } catch (error) {
        return end(null, adviceOnSilence(error, host))
      }
    },
  }
}

/** A sentence about a status that is no success, or null. */
function adviceOn(status: number, location: string | null): string | null {
  if (status >= 200 && status <= 299) return null
  if (status >= 300 && status <= 399) {
    const to = location === null ? '' : ` to ${JSON.stringify(location.slice(0, maxLocation))}`
    return `Your receiver redirects${to} (${status}): the service follows no redirect, so pass the final URL.`
  }
  return (
    advices[status] ?? (status >= 500 ? failed(status) : `Your receiver answered ${status}; only 2xx is a success.`)
  )
}

const unverified =
  'it does not accept the signature: compare WEBHOOK_SIGNING_SECRET with the one above, and verify the raw body.'
const advices: Readonly<Record<number, string>> = {
  400: `Your receiver answered 400: ${unverified}`,
  401: `Your receiver answered 401: ${unverified}`,
  403: `Your receiver answered 403: ${unverified} A middleware for sign-in or CSRF may answer instead.`,
  404: 'Your receiver answered 404: no route has this path; compare the path of --forward-to.',
  405: 'Your receiver answered 405: its route takes no POST.',
  410: 'Your receiver answered 410: the service gives up this delivery and does not retry it.',
  413: 'Your receiver answered 413: its limit of the body is too small.',
  415: 'Your receiver answered 415: accept application/json on this route.',
}

function failed(status: number): string {
  return `Your receiver answered ${status}: its handler failed; its own log has the reason.`
}

function adviceOnSilence(error: unknown, host: string): string {
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return 'Your receiver did not answer within 5 s: answer 2xx once the delivery is stored, and do slow work afterwards.'
  const { code } = ((error as { cause?: unknown }).cause ?? {}) as { code?: string }
  if (code === 'ECONNREFUSED') return `Nothing listens on ${host}: start your receiver.`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `The host of ${host} is unknown: compare --forward-to.`
  return 'Your receiver closed the connection without an answer: its own log has the reason.'
}
