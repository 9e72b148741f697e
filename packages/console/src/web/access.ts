/** Decides whether a request may reach the pages: by where it comes from, and by the page that sent it. @module */

/** Names of this machine in a Host header. */
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]'])
const loopbackPeers = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/

const foreignProblem = 'The request comes from another site.'

/** The parts of a request that are checked. */
export interface AccessRequest {
  readonly method: string
  /** The Host header, or null. */
  readonly host: string | null
  /** The Origin header, or null. */
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

/** The checked parts of a request. */
export function accessRequestOf({ method, headers, url }: Request, bindings: ConsoleBindings | undefined) {
  return {
    method,
    host: headers.get('host') ?? new URL(url).host,
    origin: headers.get('origin'),
    peer: bindings?.incoming?.socket.remoteAddress,
    isForwarded: ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host'].some((name) => headers.has(name)),
  }
}

/** Pages without sign-in: why a request is rejected, or null. A Host of another name may be DNS rebinding. */
export function localProblem({ host, peer, isForwarded, ...request }: AccessRequest): string | null {
  if (host === null || !isLoopback(host)) return 'Open the console by its loopback address, such as 127.0.0.1.'
  if (isForwarded || (peer !== undefined && !loopbackPeers.test(peer)))
    return 'The console answers requests of this machine alone.'
  return originProblem(request, [`http://${host}`, `https://${host}`])
}

/** Pages with sign-in: why a request is rejected, or null. They have one address. */
export function publicProblem({ host, ...request }: AccessRequest, publicUrl: string): string | null {
  const { host: expected, origin } = new URL(publicUrl)
  if (host?.toLowerCase() !== expected) return `Open these pages at ${origin}.`
  return originProblem(request, [origin])
}

/** A form of another site must not act in the name of whoever is signed in here. */
function originProblem({ method, origin }: Pick<AccessRequest, 'method' | 'origin'>, own: readonly string[]) {
  if (method === 'GET' || method === 'HEAD' || (origin !== null && own.includes(origin))) return null
  return foreignProblem
}

/** Why a stream is rejected, or null. A page of another site could open streams until none is left for anybody. */
export function streamProblem({ headers }: Request): string | null {
  // Browsers send it, and no script can change it. Without it the client is no browser.
  const site = headers.get('sec-fetch-site')
  return site === null || site === 'same-origin' || site === 'none' ? null : foreignProblem
}

function isLoopback(host: string): boolean {
  return loopbackHosts.has(host.toLowerCase().replace(/:\d{1,5}$/, ''))
}
