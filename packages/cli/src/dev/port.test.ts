import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { firstFreePort } from './machine.js'

it('passes over a port in use', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  try {
    expect(await firstFreePort(port)).toBeGreaterThan(port)
  } finally {
    taken.close()
  }
})
