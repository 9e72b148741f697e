import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { buildDeliveryHeaders } from './attempt.js'

const secret = 'whsec_0123456789abcdef0123456789abcdef'
const integrationAddress = `0x${'a1'.repeat(20)}`
const hmac = (t: number, body: Uint8Array) => createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')

test('carries the four headers of a notification and nothing else', async () => {
  const body = new TextEncoder().encode('{"memo":"ünï ☕"}')
  const headers = await buildDeliveryHeaders({ secret, integrationAddress, body, now: 1_700_000_000_999 })
  expect(headers).toEqual({
    'Content-Type': 'application/json',
    'User-Agent': 'payment-integration',
    'X-Service-Integration': integrationAddress,
    'X-Service-Signature': `t=1700000000,v1=${hmac(1_700_000_000, body)}`,
  })
})

test('signs the bytes as they are, even where they are not UTF-8', async () => {
  const body = Uint8Array.from([0xff, 0x00, 0xc3, 0x28])
  const headers = await buildDeliveryHeaders({ secret, integrationAddress, body, now: 1_000 })
  expect(headers['X-Service-Signature']).toBe(`t=1,v1=${hmac(1, body)}`)
})

test('rejects a blank secret instead of signing with it', async () => {
  const body = new Uint8Array(2)
  await expect(buildDeliveryHeaders({ secret: '', integrationAddress, body, now: 1_000 })).rejects.toThrow()
})
