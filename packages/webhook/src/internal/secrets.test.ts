import { expect, test } from 'vitest'
import type { Hmac } from './hmac.js'
import { hmac } from './hmac.node.js'
import { createKeyring } from './secrets.js'

test('a keyring keeps the 256 newest keys and forgets the oldest', async () => {
  const prepared: string[] = []
  const recording: Hmac = {
    ...hmac,
    prepare(secret) {
      prepared.push(new TextDecoder().decode(secret))
      return hmac.prepare(secret)
    },
  }
  const keysOf = createKeyring(recording)
  for (let index = 0; index <= 256; index++) await keysOf([`secret-${index}`])
  prepared.length = 0
  await keysOf(['secret-256', 'secret-1', 'secret-0'])
  expect(prepared).toEqual(['secret-0'])
})
