/** Receivers with wrong TLS, and the expected result of each. */
import type { TlsOptions } from 'node:tls'
import { vi } from 'vitest'
import type { HostileReceiver } from './hostile-receivers.js'
import { selfSigned } from './self-signed.js'

export interface HostileTls extends HostileReceiver {
  /** The server's TLS options; undefined for no TLS at all. */
  readonly tls?: TlsOptions | undefined
  /** Trusted although wrong, so that only the tested flaw can be rejected. */
  readonly trusted: readonly string[]
}

/** Names this machine in development. */
export const tlsHost = 'shop.localhost'
/** A certificate that fits {@link tlsHost}. */
export const fitting = selfSigned(tlsHost)

const connection = { reason: 'connection' } as const
const timeout = { reason: 'timeout' } as const
const trusted = [fitting.cert]
const other = selfSigned('other.localhost')
const expired = madeOn(-30)

/** A certificate for some days from now, valid for a day before and after that. */
function madeOn(days: number): { key: string; cert: string } {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * 86_400_000 })
  try {
    return selfSigned(tlsHost)
  } finally {
    vi.useRealTimers()
  }
}

export const hostileTls: readonly HostileTls[] = [
  { name: 'shows a certificate of its own making', tls: selfSigned(tlsHost), trusted, outcome: connection },
  { name: 'shows a certificate that has expired', tls: expired, trusted: [expired.cert], outcome: connection },
  { name: 'shows a certificate of another name', tls: other, trusted: [other.cert], outcome: connection },
  {
    name: 'speaks TLS 1.1 at most',
    tls: { ...fitting, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' },
    trusted,
    outcome: connection,
  },
  {
    name: 'demands a certificate of the client',
    tls: { ...fitting, requestCert: true, rejectUnauthorized: true },
    trusted,
    outcome: connection,
  },
  {
    name: 'speaks HTTP without TLS',
    onConnect: (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
    trusted,
    outcome: connection,
  },
  { name: 'never answers the handshake', trusted, outcome: timeout },
  { name: 'closes in the handshake', onConnect: (socket) => socket.end(), trusted, outcome: connection },
  { name: 'finishes the handshake and never answers', tls: fitting, trusted, outcome: timeout },
]
