/** Explains each refusal in words, apart from the checks, which stay small. @module */
import { isWebhookRefusal, type WebhookErrorCode } from './errors.js'

const cures: Readonly<Record<WebhookErrorCode, string>> = {
  ERR_SIGNATURE_MISSING:
    'The X-Service-Signature header is missing or empty. Pass the headers of the request; check proxies on the way.',
  ERR_SIGNATURE_MALFORMED:
    'X-Service-Signature is not t=<unix seconds>,v1=<64 lowercase hex characters>. It did not come from the service, or a proxy changed it.',
  ERR_SIGNATURE_SCHEME:
    'X-Service-Signature has no v1 field, the only scheme known here. Update this package if the service moved on.',
  ERR_DELIVERY_STALE:
    'The delivery was signed too long ago by this clock. Check clock sync; for queued work pass the time of receipt as receivedAt.',
  ERR_DELIVERY_FUTURE: 'The delivery is signed ahead of this clock. Check clock sync.',
  ERR_SIGNATURE_MISMATCH:
    'No signing secret gives this signature over these bytes. Check that the secret is the webhook signing secret of this integration, without the quotes of an environment file, and that the body is the raw bytes, not JSON parsed and written again.',
  ERR_BODY_NOT_RAW:
    "The signature covers the raw bytes, and the body is something else. Pass a Uint8Array, ArrayBuffer, string or unread Request. Express: express.raw({ type: 'application/json' }) on this route, before express.json(). Fetch handlers: pass the request itself, or await request.arrayBuffer(). Lambda: decode the body when isBase64Encoded.",
  ERR_BODY_TOO_LARGE: 'The body is larger than maxBytes. Raise it if the service really sends such bodies.',
  ERR_BODY_UNREADABLE: 'The body of the request could not be read to its end. The service retries.',
  ERR_INTEGRATION_UNKNOWN:
    'X-Service-Integration is missing, is not a lowercased address, or names an integration without a signing secret here. Check the look-up.',
  ERR_INTEGRATION_MISMATCH:
    'X-Service-Integration is not the integrationAddress of the signed body. Check proxies that change headers.',
  ERR_SNAPSHOT_INVALID:
    'The signed body is not a payment snapshot; `field` names the first field that is wrong. Update this package if the service moved on.',
}

/**
 * Says the cause and the cure in a sentence or two. For the receiver's log, not for the answer.
 * Returns `undefined` when the error is no refusal.
 * @example console.error(explainRefusal(error) ?? error)
 */
export function explainRefusal(error: unknown): string | undefined {
  return isWebhookRefusal(error) ? cures[error.code] : undefined
}
