/**
 * The notification that the service sends to an integrator. Source: docs/interface.md 2.3, 6;
 * docs/decisions/retries.md, docs/decisions/redirects-and-addresses.md.
 * @module
 */
import { integrationHeader, signatureHeader } from '../headers.js'
import { deliveryTimeoutMs, signatureToleranceSeconds } from '../limits.js'
import { snapshot } from './examples.js'
import { json } from './references.js'
import { open } from './security.js'
import type { Parameter, PathItem } from './types.js'

const signature: Parameter = {
  name: signatureHeader,
  in: 'header',
  required: true,
  description: `Verify it before anything else. \`v1\` is the HMAC-SHA256, in lowercase hex, of the value of \`t\`, a dot and the raw body bytes, keyed with the webhook signing secret. Ignore unknown fields, compare in constant time, and reject a \`t\` that differs by more than ${signatureToleranceSeconds} seconds from your clock.`,
  schema: { type: 'string', pattern: '^t=[0-9]+,v1=[0-9a-f]{64}(,[^,=]+=[^,]*)*$' },
  example: `t=1790000000,v1=${'0'.repeat(64)}`,
}

const integration: Parameter = {
  name: integrationHeader,
  in: 'header',
  required: true,
  description: 'The integration that the delivery is for, lowercased: a hint for choosing the secret, not a proof.',
  schema: { type: 'string', pattern: '^0x[0-9a-f]{40}$' },
  example: `0x${'1'.repeat(40)}`,
}

/** The one notification. */
export const webhooks: Readonly<Record<string, PathItem>> = {
  paymentSnapshot: {
    post: {
      operationId: 'receivePaymentSnapshot',
      tags: ['Notifications'],
      summary: 'A payment was indexed, or its state or merchant data changed',
      description:
        'Sent to the notification URL of the integration. Deliveries are unordered and can repeat: store the version per payment, and drop a delivery whose version is not greater than the stored one. A delivery only shows that a payment named the integration. It proves no sale: compare it with your own records before you credit anything.',
      security: open,
      parameters: [signature, integration],
      requestBody: {
        description: 'A full snapshot. Every field is always present; some may be null.',
        required: true,
        content: json('Snapshot', { snapshot: { summary: 'A payment succeeded', value: snapshot } }),
      },
      responses: {
        '2XX': { description: `Success, if the answer arrives within ${deliveryTimeoutMs / 1_000} seconds.` },
        410: { description: 'The service gives up the delivery: no retry follows.' },
        default: {
          description:
            'Any other answer is recorded as a failure, and the delivery is retried for about three days. Redirects are not followed. `Retry-After` is honoured up to one hour.',
        },
      },
    },
  },
}
