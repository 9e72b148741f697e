/** Decides which requests reach the pages and where they lead, and adds the security headers. @module */
import { parseUrl } from '@payment-integration/contract/internal'
import type { Env, Hono } from 'hono'

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]'])
const loopbackPeers = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/

const foreignProblem = 'The request comes from another site.'

/** The second argument of `fetch`, with which a host on Node passes the peer's address. */
export interface ConsoleBindings {
  /** Node's request, which shows the peer. @default none: the peer counts as this machine */
  readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } } | undefined
}

const getHost = ({ headers, url }: Request) => (headers.get('host') ?? new URL(url).host).toLowerCase()
/** Headers that say that a proxy forwarded the request. */
const forwardingHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host']

/** For pages without sign-in: why a request is rejected, or null. Another name in `Host` may be DNS rebinding. */
export function findLocalProblem(request: Request, bindings?: ConsoleBindings): string | null {
  const host = getHost(request)
  if (!loopbackHosts.has(host.replace(/:\d{1,5}$/, '')))
    return 'Open the console by its loopback address, such as 127.0.0.1.'
  // A host other than Node does not report the peer.
  const peer = bindings?.incoming?.socket.remoteAddress ?? '127.0.0.1'
  if (forwardingHeaders.some((name) => request.headers.has(name)) || !loopbackPeers.test(peer))
    return 'The console answers requests of this machine alone.'
  return findOriginProblem(request, [`http://${host}`, `https://${host}`])
}

/** For pages with sign-in, which have one address: why a request is rejected, or null. */
export function findPublicProblem(request: Request, publicUrl: string): string | null {
  const { host, origin } = new URL(publicUrl)
  if (getHost(request) !== host) return `Open these pages at ${origin}.`
  return findOriginProblem(request, [origin])
}

/** Rejects forms from other sites, which must not act as the person who is signed in here. */
function findOriginProblem({ method, headers }: Request, allowedOrigins: readonly string[]) {
  const origin = headers.get('origin')
  if (method === 'GET' || method === 'HEAD' || (origin !== null && allowedOrigins.includes(origin))) return null
  return foreignProblem
}

/** Why a stream is rejected, or null. A page of another site could otherwise use up all streams. */
export function findStreamProblem({ headers }: Request): string | null {
  // Browsers send this header, and no script can change it. A client without this header is no browser.
  const site = headers.get('sec-fetch-site')
  return site === null || site === 'same-origin' || site === 'none' ? null : foreignProblem
}

/**
 * Adds the security headers to every answer, and rejects requests of other hosts and origins with 403.
 * @param publicUrl - The origin of the pages; undefined: only this machine is answered.
 */
export function guardPages<E extends Env & { Bindings: ConsoleBindings }>(app: Hono<E>, publicUrl: string | undefined) {
  app.use('*', async (c, next) => {
    await next()
    c.res = addSecurityHeaders(c.res)
  })
  app.use('*', async (c, next) => {
    const request = c.req.raw
    const problem = publicUrl === undefined ? findLocalProblem(request, c.env) : findPublicProblem(request, publicUrl)
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

/** Adds the security headers. A response that has its own `Cache-Control`, such as a versioned file, keeps it. */
function addSecurityHeaders(response: Response): Response {
  const answer = new Response(response.body, response)
  for (const [name, value] of Object.entries(securityHeaders))
    if (!(name === 'Cache-Control' && answer.headers.has(name))) answer.headers.set(name, value)
  return answer
}

/** The decoded path of a request below `mountedAt`, without a slash at the end. */
export function pathBelow(url: string, mountedAt: string): string {
  const path = new URL(url).pathname.slice(mountedAt.length).replace(/\/$/, '')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const unusedOrigin = 'http://pages.invalid'

/** Returns the path and query if they lead to a page below `base`; else `base`. Prevents an open redirect. */
export function parseLocalPath(path: string | null | undefined, base: string): string {
  const url = path?.startsWith('/') ? parseUrl(`${unusedOrigin}${path}`) : null
  if (url === null || url.origin !== unusedOrigin) return base
  const isBelow = url.pathname === base || url.pathname.startsWith(`${base}/`)
  return isBelow ? `${url.pathname}${url.search}` : base
}
