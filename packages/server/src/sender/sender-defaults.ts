/** Defaults of the sender. @module */
import { notificationPorts } from '@payment-integration/core/internal'

/** Defaults of `UndiciSenderOptions`. */
export const senderDefaults = {
  allowLoopbackHttp: false,
  ports: notificationPorts,
  connectTimeoutMs: 5_000,
  // Twice the POSTs in flight to one endpoint, so that endpoints can share a host.
  connectionsPerOrigin: 128,
  keepAliveMs: 4_000,
  connectionAgeMs: 60_000,
  // Long enough for one lost packet. Most bodies arrive with the head.
  successBodyMs: 250,
} as const
