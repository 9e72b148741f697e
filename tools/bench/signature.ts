/** Compares signing and verifying with one bare HMAC over the same bytes. @module */
import { createHmac } from 'node:crypto'
import { createVerifier } from '@payment-integration/webhook'
import { signDelivery } from '@payment-integration/webhook/signing'
import { createTestDelivery, createTestSnapshot } from '@payment-integration/webhook/testing'
import { type Effort, type Measured, sideBySide, type Way } from './measure.js'

const secret = 'pi_whsec_bench_only_0123456789abcdef'

/** The usual delivery, and one of 1 KB: a long invoice. */
const sizes = [null, 1_024] as const

/** Measures on deliveries of two sizes. The ratio of every row is to the floor of the first. */
export async function benchSignature(effort: Effort): Promise<{ bodyBytes: number; rows: Measured[] }> {
  const deliveries = await Promise.all(sizes.map(deliveryOf))
  const rows = await sideBySide(deliveries.flatMap(waysOf), effort)
  return { bodyBytes: deliveries[0]?.body.length ?? Number.NaN, rows }
}

type TestDelivery = Awaited<ReturnType<typeof createTestDelivery>>

/** @param bytes - Length of the body; null: unchanged. */
async function deliveryOf(bytes: number | null): Promise<TestDelivery> {
  const delivery = await createTestDelivery({ secret })
  if (bytes === null) return delivery
  const title = 'Example Coffee'.padEnd('Example Coffee'.length + bytes - delivery.body.length, '.')
  return createTestDelivery({ secret, snapshot: createTestSnapshot({ recipient: { title, subtitle: null } }) })
}

function waysOf({ body, headers }: TestDelivery): Way[] {
  const timestamp = Math.floor(Date.now() / 1000)
  const { verify } = createVerifier({ secrets: secret })
  const size = `${body.length} bytes`
  return [
    {
      name: `createHmac, the floor, ${size}`,
      run: () => createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex'),
    },
    { name: `signDelivery, ${size}`, run: () => signDelivery({ secret, timestamp, body }) },
    { name: `verify: signature, time, JSON, fields, ${size}`, run: () => verify({ body, headers }) },
  ]
}
