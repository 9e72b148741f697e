/** Defaults of `UndiciSenderOptions`. @module */
import { notificationPorts } from '@payment-integration/core/internal'

export const senderDefaults = {
  allowLoopbackHttp: false,
  ports: notificationPorts,
  connectTimeoutMs: 5_000,
  // Four times the POSTs in flight to one endpoint, so that endpoints can share a host.
  connectionsPerOrigin: 128,
  keepAliveMs: 4_000,
  connectionAgeMs: 60_000,
  // Long enough to resend one lost packet. Most bodies arrive with the head.
  successBodyMs: 250,
} as const
