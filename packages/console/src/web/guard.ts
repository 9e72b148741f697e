/** Decides which requests reach the pages and where they lead, and adds the security headers. @module */
import { parseUrl } from '@payment-integration/contract/internal'
import type { Env, Hono } from 'hono'

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]'])
const loopbackPeers = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/

const foreignProblem = 'The request comes from another site.'

interface AccessRequest {
  readonly method: string
  readonly host: string | null
  readonly origin: string | null
  /** Address of the connection's other end; undefined where the host does not tell. */
  readonly peer: string | undefined
  /** Whether a proxy says that it forwards for somebody else. */
  readonly isForwarded: boolean
}

/** Values that a host on Node passes as the second argument of `fetch`, to check where a connection comes from. */
export interface ConsoleBindings {
  readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } } | undefined
}

function toAccessRequest({ method, headers, url }: Request, bindings: ConsoleBindings | undefined) {
  return {
    method,
    host: headers.get('host') ?? new URL(url).host,
    origin: headers.get('origin'),
    peer: bindings?.incoming?.socket.remoteAddress,
    isForwarded: ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host'].some((name) => headers.has(name)),
  }
}

/** Pages without sign-in: why a request is rejected, or null. A Host of another name may be DNS rebinding. */
export function findLocalProblem({ host, peer, isForwarded, ...request }: AccessRequest): string | null {
  if (host === null || !isLoopback(host)) return 'Open the console by its loopback address, such as 127.0.0.1.'
  if (isForwarded || (peer !== undefined && !loopbackPeers.test(peer)))
    return 'The console answers requests of this machine alone.'
  return findOriginProblem(request, [`http://${host}`, `https://${host}`])
}

/** Pages with sign-in: why a request is rejected, or null. They have one address. */
export function findPublicProblem({ host, ...request }: AccessRequest, publicUrl: string): string | null {
  const { host: expected, origin } = new URL(publicUrl)
  if (host?.toLowerCase() !== expected) return `Open these pages at ${origin}.`
  return findOriginProblem(request, [origin])
}

/** A form of another site must not act in the name of whoever is signed in here. */
function findOriginProblem(
  { method, origin }: Pick<AccessRequest, 'method' | 'origin'>,
  allowedOrigins: readonly string[],
) {
  if (method === 'GET' || method === 'HEAD' || (origin !== null && allowedOrigins.includes(origin))) return null
  return foreignProblem
}

/** Why a stream is rejected, or null. A page of another site could open streams until none is left for anybody. */
export function findStreamProblem({ headers }: Request): string | null {
  // Browsers send it, and no script can change it. Without it the client is no browser.
  const site = headers.get('sec-fetch-site')
  return site === null || site === 'same-origin' || site === 'none' ? null : foreignProblem
}

function isLoopback(host: string): boolean {
  return loopbackHosts.has(host.toLowerCase().replace(/:\d{1,5}$/, ''))
}

/**
 * Adds the security headers to every answer, and rejects requests of other hosts and origins with 403.
 * @param publicUrl - The origin of the pages; undefined: they answer this machine alone.
 */
export function guardPages<E extends Env & { Bindings: ConsoleBindings }>(app: Hono<E>, publicUrl: string | undefined) {
  app.use('*', async (c, next) => {
    await next()
    c.res = addSecurityHeaders(c.res)
  })
  app.use('*', async (c, next) => {
    const access = toAccessRequest(c.req.raw, c.env)
    const problem = publicUrl === undefined ? findLocalProblem(access) : findPublicProblem(access, publicUrl)
    return problem === null ? next() : new Response(`${problem}\n`, { status: 403 })
  })
}

const securityHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

/** Adds them; `Cache-Control` stays where the response has one, as versioned files do. */
function addSecurityHeaders(response: Response): Response {
  const answer = new Response(response.body, response)
  for (const [name, value] of Object.entries(securityHeaders))
    if (!(name === 'Cache-Control' && answer.headers.has(name))) answer.headers.set(name, value)
  return answer
}

/** The path of a request below that one, decoded, without a slash at its end. */
export function pathBelow(url: string, mountedAt: string): string {
  const path = new URL(url).pathname.slice(mountedAt.length).replace(/\/$/, '')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const origin = 'http://pages.invalid'

/** The path and query if they lead to a page below `base` of this server; else `base`. No open redirect. */
export function parseLocalPath(path: string | null | undefined, base: string): string {
  const url = path?.startsWith('/') ? parseUrl(`${origin}${path}`) : null
  if (url === null || url.origin !== origin) return base
  const isBelow = url.pathname === base || url.pathname.startsWith(`${base}/`)
  return isBelow ? `${url.pathname}${url.search}` : base
}
