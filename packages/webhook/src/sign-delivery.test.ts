import { createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { sign as signOnNode } from './internal/hmac.node.js'
import { sign as signOnWeb } from './internal/hmac.web.js'
import { computeSignature, signDelivery } from './sign-delivery.js'
import { verifySignature } from './verify-signature.js'

const body = new TextEncoder().encode('{"é":1}')
const input = { secret: 'whsec_abc', timestamp: 1_700_000_000, body }

test('the header is t and v1 as node:crypto makes them, prefix of the secret included', async () => {
  const code = createHmac('sha256', 'whsec_abc').update('1700000000.').update(body).digest('hex')
  expect(await signDelivery(input)).toBe(`t=1700000000,v1=${code}`)
  expect(await computeSignature(input)).toBe(code)
})

test.each(['whsec_abc', 'whsec é 𝄞', 's'.repeat(65), 'half \ud800 a pair'])(
  'Node and Web Crypto make the same code, with the secret %j too',
  async (secret) => {
    const code = createHmac('sha256', new TextEncoder().encode(secret)).update('1700000000.').update(body).digest('hex')
    for (const sign of [signOnNode, signOnWeb]) expect(await sign(secret, 1_700_000_000, body)).toBe(code)
  },
)

test('what is signed verifies, from the epoch to the last 12-digit second', async () => {
  for (const timestamp of [0, 1, 999_999_999_999]) {
    const header = await signDelivery({ ...input, timestamp })
    const clock = { now: () => timestamp * 1000 }
    const proof = await verifySignature({ body, header, secrets: ['whsec_abc'], clock })
    expect(proof.signedAt).toBe(timestamp)
  }
})

test.each([Number.NaN, -1, 1.5, 1_700_000_000_000, '1700000000'])(
  'a timestamp of %s is a RangeError',
  async (timestamp) => {
    await expect(signDelivery({ ...input, timestamp: timestamp as number })).rejects.toThrow(RangeError)
  },
)

test.each(['', ' ', 'a\n', undefined, null, 5])(
  'the secret %j is a TypeError that does not quote it',
  async (secret) => {
    const error = await signDelivery({ ...input, secret: secret as string }).catch((e) => e)
    expect(error).toBeInstanceOf(TypeError)
    expect(inspect(error)).not.toContain('a\n')
  },
)
