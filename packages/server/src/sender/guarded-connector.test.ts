import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { eventually, startTcp, type TcpServer } from '../../test/support/tcp-server.js'
import { createUndiciSender } from './undici-sender.js'

let canary: TcpServer | undefined
afterEach(() => canary?.stop())

/** An answer of a resolver that is public the first time it is read, and this machine whenever it is read again. */
function turncoat(): LookupAddress & { readonly reads: number } {
  let reads = 0
  return {
    family: 4,
    get address() {
      return reads++ === 0 ? '93.184.216.34' : '127.0.0.1'
    },
    get reads() {
      return reads
    },
  }
}

it('a socket that arrives elsewhere than the check of the name allowed is refused before a byte is sent', async () => {
  const server = await startTcp()
  canary = server
  const found = turncoat()
  const lookup: LookupFunction = (_name, _options, callback) => callback(null, [found])
  const sender = createUndiciSender({ lookup })
  const url = `https://hook.example:${server.port}/`
  const result = await sender.post({ url, headers: {}, body: Buffer.from('x'), timeoutMs: 2_000 })
  await sender.close()
  expect(result).toMatchObject({ kind: 'failure', reason: 'refused_address' })
  // The connection itself was made: only the check of the socket can have refused it.
  expect(found.reads).toBeGreaterThan(1)
  await eventually(() => server.connections() === 1 && server.open() === 0)
  expect(server.received()).toBe('')
})
