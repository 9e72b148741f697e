/** Every number of docs/interface.md 8, as data. @module */

/** Page size of the list endpoints. Source: docs/interface.md 4.1, 8. */
export const pageLimit = { default: 50, min: 1, max: 200 } as const

/** Longest duration of a whole attempt of a delivery, in milliseconds. Source: docs/interface.md 6, 8. */
export const deliveryTimeoutMs = 5_000

/**
 * Recommended largest gap between `t` and the receiver's clock, in seconds. Source: docs/interface.md 6 signature rule
 * 5, 8.
 */
export const signatureToleranceSeconds = 300

/** Default lifetime of a share token, in seconds. Source: docs/interface.md 4.2, 8. */
export const shareTokenLifetimeSeconds = 1_200

/**
 * Confirmations that make the legacy `final` flag true, by chain, and the approximate time that they take. Source:
 * docs/interface.md 8.
 */
export const finality = {
  1: { confirmations: 3, approximateSeconds: 36 },
  10: { confirmations: 48, approximateSeconds: 96 },
  100: { confirmations: 1, approximateSeconds: 5 },
  137: { confirmations: 50, approximateSeconds: 100 },
  42161: { confirmations: 1_600, approximateSeconds: 480 },
} as const satisfies Readonly<Record<number, { confirmations: number; approximateSeconds: number }>>
