/** The signed headers of a notification: docs/interface.md 6 (headers, signature rules 1 and 3). @module */
import {
  integrationHeader,
  jsonContentType,
  notificationUserAgent,
  signatureHeader,
} from '@payment-integration/contract'
import { signDelivery } from '@payment-integration/webhook/signing'

/** The parts of a signature. */
export interface DeliveryToSign {
  /** The webhook signing secret of the integration. */
  readonly secret: string
  /** Lowercased. */
  readonly integrationAddress: string
  /** The exact bytes that will be sent. */
  readonly body: Uint8Array
  /** Unix time in milliseconds; rounded down to whole seconds in the header. */
  readonly now: number
}

/** Builds the headers of one attempt: each has its own time and signature, over the same body. */
export async function deliveryHeaders(delivery: DeliveryToSign): Promise<Record<string, string>> {
  const { secret, integrationAddress, body, now } = delivery
  return {
    'Content-Type': jsonContentType,
    'User-Agent': notificationUserAgent,
    [integrationHeader]: integrationAddress,
    [signatureHeader]: await signDelivery({ secret, timestamp: Math.floor(now / 1_000), body }),
  }
}
