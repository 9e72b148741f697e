/** Makes valid and invalid deliveries, without code of the verifier under test. Source: docs/interface.md 6. @module */
import type { SnapshotBody } from '@payment-integration/contract'
import { integrationHeader, signatureHeader, signatureToleranceSeconds } from '@payment-integration/contract'
import { jsonContentType } from '@payment-integration/contract/internal'
import type { FakeClock } from './builders.js'

/** Creates an HMAC-SHA256 function, which gives 64 lowercase hex digits. The first call imports the key. */
export function createHmac(key: Uint8Array<ArrayBuffer>): (signed: Uint8Array<ArrayBuffer>) => Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  let imported: ReturnType<typeof crypto.subtle.importKey> | undefined
  return async (signed) => {
    imported ??= crypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
    const code = new Uint8Array(await crypto.subtle.sign('HMAC', await imported, signed))
    return Array.from(code, (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
}

export function buildSignedBytes(t: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${t}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  return signed
}

export function computeSignature(secret: string, t: string, body: Uint8Array): Promise<string> {
  return createHmac(new TextEncoder().encode(secret))(buildSignedBytes(t, body))
}

/** Headers and bytes, for `fetch(url, { method: 'POST', ...delivery })` or for a verifier. */
export interface SignedDelivery {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer>
}

/** Options of deliveries. */
export interface DeliveryOptions {
  /** The signing secret of the receiver under test. */
  readonly secret: string
  /** The signer's clock. @default the system clock, or a test runner's fake timers */
  readonly clock?: Pick<FakeClock, 'now'> | undefined
}

/** Makes deliveries. An invalid delivery has exactly one flaw. */
export type Deliveries = ReturnType<typeof createDeliveries>

const secondsOutsideTolerance = signatureToleranceSeconds + 1

/**
 * Creates the factory of deliveries for one secret.
 * @throws {TypeError} When the secret is empty.
 * @example
 * import { createBuilders, createDeliveries } from '@payment-integration/testing'
 * const { good, stale } = createDeliveries({ secret: 'whsec_test' })
 * const snapshot = createBuilders().snapshot()
 * const deliveries = [await good(snapshot), await stale(snapshot, 301)]
 */
export function createDeliveries(options: DeliveryOptions) {
  const { secret, clock = { now: () => Date.now() } } = Object(options) as DeliveryOptions
  if (typeof secret !== 'string' || secret === '') throw new TypeError('secret is empty; pass the one of the receiver.')

  async function sign(body: Uint8Array<ArrayBuffer>, ageSeconds: number, key: string): Promise<string> {
    const t = String(Math.floor(clock.now() / 1_000) - ageSeconds)
    return `t=${t},v1=${await computeSignature(key, t, body)}`
  }
  async function make(snapshot: SnapshotBody, { ageSeconds = 0, key = secret } = {}): Promise<SignedDelivery> {
    const body = toBytes(snapshot)
    return buildDelivery(snapshot.integrationAddress, body, await sign(body, ageSeconds, key))
  }

  return {
    /** Valid: as the service sends it, signed now. */
    good: (snapshot: SnapshotBody) => make(snapshot),
    /** Signed too long ago. @param seconds - The age of the signature. @default 301 */
    stale: (snapshot: SnapshotBody, seconds = secondsOutsideTolerance) => make(snapshot, { ageSeconds: seconds }),
    /** Signed too far in the future. @param seconds - How far in the future. @default 301 */
    future: (snapshot: SnapshotBody, seconds = secondsOutsideTolerance) => make(snapshot, { ageSeconds: -seconds }),
    /** Signed with a secret that is not the receiver's. */
    forged: (snapshot: SnapshotBody) => make(snapshot, { key: `${secret}.forged` }),
    /** Changed after signing, by a blank that leaves the parsed JSON unchanged. */
    async tampered(snapshot: SnapshotBody): Promise<SignedDelivery> {
      const delivery = await make(snapshot)
      return { ...delivery, body: new Uint8Array([...delivery.body, 0x20]) }
    },
    /** Without a signature. */
    unsigned: (snapshot: SnapshotBody) => buildDelivery(snapshot.integrationAddress, toBytes(snapshot), null),
    /** A correctly signed body with the header of another integration. */
    async misrouted(snapshot: SnapshotBody, integrationAddress = `0x${'0f'.repeat(20)}`): Promise<SignedDelivery> {
      const delivery = await make(snapshot)
      return { ...delivery, headers: { ...delivery.headers, [integrationHeader]: integrationAddress } }
    },
    /** A retry: the same body under a new signature. A receiver answers 2xx and repeats no effect. */
    async duplicate({ headers, body }: SignedDelivery): Promise<SignedDelivery> {
      return { headers: { ...headers, [signatureHeader]: await sign(body, 0, secret) }, body }
    },
    /** One delivery per snapshot, newest version first: only the first may have an effect. */
    reordered: (snapshots: readonly SnapshotBody[]) =>
      Promise.all(snapshots.toSorted((a, b) => b.version - a.version).map((snapshot) => make(snapshot))),
    /**
     * The same bytes signed with the next secret, then with the receiver's, as the service does during a rotation after
     * a 400, 401 or 403. A receiver with both secrets accepts the first.
     */
    rotated: (snapshot: SnapshotBody, nextSecret: string): Promise<[next: SignedDelivery, previous: SignedDelivery]> =>
      Promise.all([make(snapshot, { key: nextSecret }), make(snapshot)]),
  }
}

function toBytes(snapshot: SnapshotBody): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(snapshot))
}

/** @param signature - The value of the signature header; null omits the header. */
export function buildDelivery(
  integration: string,
  body: Uint8Array<ArrayBuffer>,
  signature: string | null,
): SignedDelivery {
  return {
    headers: {
      'Content-Type': jsonContentType,
      ...(signature === null ? {} : { [signatureHeader]: signature }),
      [integrationHeader]: integration,
    },
    body,
  }
}
