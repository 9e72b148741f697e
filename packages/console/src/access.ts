/** Decides whether a request may reach the console: from this machine, and from the console's own pages. @module */

/** Names of this machine in a Host header. */
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]'])
const loopbackPeers = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/

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

/** Why a request is rejected with 403, or null. A Host of another name may be an attack by DNS rebinding. */
export function accessProblem({ method, host, origin, peer, isForwarded }: AccessRequest): string | null {
  if (host === null || !isLoopback(host)) return 'Open the console by its loopback address, such as 127.0.0.1.'
  if (isForwarded || (peer !== undefined && !loopbackPeers.test(peer)))
    return 'The console answers requests of this machine alone.'
  if (method === 'GET' || method === 'HEAD') return null
  return origin === `http://${host}` || origin === `https://${host}` ? null : 'The request comes from another site.'
}

function isLoopback(host: string): boolean {
  return loopbackHosts.has(host.toLowerCase().replace(/:\d{1,5}$/, ''))
}
