/** When the legacy API calls a payment final, by chain. Source: docs/interface.md 8. @module */

/** Confirmations that make the legacy `final` flag true, by chain, and the approximate time that they take. */
export const finality = {
  1: { confirmations: 3, approximateSeconds: 36 },
  10: { confirmations: 48, approximateSeconds: 96 },
  100: { confirmations: 1, approximateSeconds: 5 },
  137: { confirmations: 50, approximateSeconds: 100 },
  42161: { confirmations: 1_600, approximateSeconds: 480 },
} as const satisfies Readonly<Record<number, { confirmations: number; approximateSeconds: number }>>
