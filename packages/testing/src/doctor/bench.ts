/** The tools of probes: payments, signatures and a way to send. Source: docs/interface.md 6. @module */
import { integrationHeader, jsonContentType, type SnapshotBody, signatureHeader } from '@payment-integration/contract'
import { createBuilders } from '../builders/create-builders.js'
import { createDeliveries, type Deliveries, type SignedDelivery } from '../deliveries/create-deliveries.js'
import { codeOf } from '../deliveries/sign.js'
import type { CheckedOptions } from './options.js'
import type { Sender } from './send.js'

/** A body with its time and signature, before they become a header. */
export interface SignedParts {
  readonly body: Uint8Array<ArrayBuffer>
  /** Unix seconds. */
  readonly t: string
  /** 64 hex digits. */
  readonly v1: string
}

/** Makes and sends deliveries. */
export interface Bench extends Sender {
  readonly deliveries: Deliveries
  readonly signingSecret: string
  readonly apiSecret: string | undefined
  readonly timeoutMs: number
  /** A new payment, at version 1. */
  payment(fields?: Partial<SnapshotBody>): SnapshotBody
  /** Signs a body as it stands. */
  sign(body: string, options?: { readonly ageSeconds?: number; readonly key?: string }): Promise<SignedParts>
  /** A request. @param signature - The value of the header; null omits it. */
  deliver(body: Uint8Array<ArrayBuffer>, signature: string | null): SignedDelivery
  /** Signs and packs any body. */
  deliverText(body: string): Promise<SignedDelivery>
}

/** Transaction hashes of the doctor begin with these characters, so that its payments can be found and deleted. */
export const doctorHashPrefix = '0xd0c70000'

/** Creates the bench of a run. */
export function createBench(options: CheckedOptions, sender: Sender): Bench {
  const { signingSecret, apiSecret, integrationAddress, seed, now, timeoutMs } = options
  const clock = { now }
  const build = createBuilders({ seed, integrationAddress, clock })
  const invoice = { amount: '1.00', currency: 'EUR', settlementAmount: '1.08', settlementCurrency: 'USD' }

  const sign: Bench['sign'] = async (text, { ageSeconds = 0, key = signingSecret } = {}) => {
    const body = new TextEncoder().encode(text)
    const t = String(Math.floor(now() / 1_000) - ageSeconds)
    return { body, t, v1: await codeOf(key, t, body) }
  }
  const deliver: Bench['deliver'] = (body, signature) => ({
    headers: {
      'Content-Type': jsonContentType,
      ...(signature === null ? {} : { [signatureHeader]: signature }),
      [integrationHeader]: integrationAddress,
    },
    body,
  })
  return {
    ...sender,
    deliveries: createDeliveries({ secret: signingSecret, clock }),
    signingSecret,
    apiSecret,
    timeoutMs,
    sign,
    deliver,
    payment: (fields) =>
      build.snapshot({
        txHash: `${doctorHashPrefix}${build.txHash().slice(doctorHashPrefix.length)}`,
        state: 'pending',
        recipient: { title: 'Doctor', subtitle: 'A test of the receiver' },
        invoice,
        ...fields,
      }),
    async deliverText(text) {
      const { body, t, v1 } = await sign(text)
      return deliver(body, `t=${t},v1=${v1}`)
    },
  }
}
