/** Deliveries for an integrator's own tests, made as the service makes them. @module */
import { integrationHeader, signatureHeader } from './delivery.js'
import { signDelivery } from './sign-delivery.js'
import type { Snapshot } from './snapshot.js'

/** The snapshot, secret and age of a test delivery, and its fault. */
export interface TestDeliveryOptions {
  /** The delivered snapshot. @default a first snapshot, see {@link createTestSnapshot} */
  readonly snapshot?: Snapshot | undefined
  /** The signing secret that the receiver under test knows. */
  readonly secret: string
  /** The signer's clock: milliseconds since the epoch. @default Date */
  readonly clock?: { now(): number } | undefined
  /** Age in whole seconds: 301 is stale for a default receiver, -301 is from the future. @default 0 */
  readonly ageSeconds?: number | undefined
  /**
   * `forged`: signed with another secret. `tampered`: the body changed after signing. `unsigned`: no signature.
   * @default none
   */
  readonly fault?: 'forged' | 'tampered' | 'unsigned' | undefined
}

/** Headers and bytes, ready for `fetch(url, { method: 'POST', ...delivery })` or for `verify(delivery)`. */
export interface TestDelivery {
  readonly headers: Record<string, string>
  readonly body: Uint8Array<ArrayBuffer>
}

/**
 * Creates a delivery for a test, signed as the service signs it.
 * @throws {TypeError} When the secret is unusable, or `fault` is unknown.
 * @throws {RangeError} When clock and age give no whole number of seconds.
 * @example
 * import { createVerifier } from '@payment-integration/webhook'
 * import { createTestDelivery, createTestSnapshot } from '@payment-integration/webhook/testing'
 * const snapshot = createTestSnapshot({ version: 2, state: 'success' })
 * const delivery = await createTestDelivery({ secret: 'whsec_test', snapshot })
 * await createVerifier({ secrets: 'whsec_test' }).verify(delivery)
 */
export async function createTestDelivery(options: TestDeliveryOptions): Promise<TestDelivery> {
  const { snapshot = createTestSnapshot(), secret, clock = Date, ageSeconds = 0, fault } = options
  if (fault !== undefined && !['forged', 'tampered', 'unsigned'].includes(fault))
    throw new TypeError(`fault is ${fault}; pass forged, tampered or unsigned, or leave it out.`)
  const body = new TextEncoder().encode(JSON.stringify(snapshot))
  const signature = await signDelivery({
    secret: fault === 'forged' ? `${secret}.forged` : secret,
    timestamp: Math.floor(clock.now() / 1000) - ageSeconds,
    body,
  })
  return {
    headers: {
      'Content-Type': 'application/json',
      ...(fault === 'unsigned' ? {} : { [signatureHeader]: signature }),
      [integrationHeader]: snapshot.integrationAddress,
    },
    // Still the same JSON: only a receiver that verifies the bytes notices.
    body: fault === 'tampered' ? new TextEncoder().encode(`${JSON.stringify(snapshot)} `) : body,
  }
}

/** Creates a valid snapshot: version 1 of a pending payment, with merchant and invoice. Your fields replace its own. */
export function createTestSnapshot(overrides: Partial<Snapshot> = {}): Snapshot {
  return {
    integrationAddress: `0x${'a1'.repeat(20)}`,
    chainId: '8453',
    txHash: `0x${'b2'.repeat(32)}`,
    version: 1,
    state: 'pending',
    recipient: { title: 'Example Coffee', subtitle: null },
    invoice: { amount: '12.50', currency: 'EUR', settlementAmount: '13.61', settlementCurrency: 'USD' },
    ...overrides,
  }
}
