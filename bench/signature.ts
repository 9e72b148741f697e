/** What signing and verifying cost beside one bare HMAC over the same bytes. @module */
import { createHmac } from 'node:crypto'
import { createVerifier } from '@payment-integration/webhook'
import { signDelivery } from '@payment-integration/webhook/signing'
import { createTestDelivery } from '@payment-integration/webhook/testing'
import { type Effort, type Measured, sideBySide } from './measure.js'

const secret = 'pi_whsec_bench_only_0123456789abcdef'

/** Measures on one delivery of the usual size. */
export async function benchSignature(effort: Effort): Promise<{ bodyBytes: number; rows: Measured[] }> {
  const { body, headers } = await createTestDelivery({ secret })
  const timestamp = Math.floor(Date.now() / 1000)
  const { verify } = createVerifier({ secrets: secret })
  const rows = await sideBySide(
    [
      {
        name: 'createHmac, the floor',
        run: () => createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex'),
      },
      { name: 'signDelivery', run: () => signDelivery({ secret, timestamp, body }) },
      { name: 'verify: signature, time, JSON, fields', run: () => verify({ body, headers }) },
    ],
    effort,
  )
  return { bodyBytes: body.length, rows }
}
