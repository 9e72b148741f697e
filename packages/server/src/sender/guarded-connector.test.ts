import type { LookupAddress } from 'node:dns'
import { Agent } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually, startTempTcp } from '../../test/support/tcp-server.js'
import { createGuardedConnector } from './guarded-connector.js'
import type { Resolve } from './resolve-name.js'

function connect(url: string, resolve: Resolve, denied?: readonly string[]): Promise<unknown> {
  const allowLoopbackHttp = denied !== undefined
  const connector = createGuardedConnector({ resolve, allowLoopbackHttp, connectTimeoutMs: 600_000, denied })
  const agent = new Agent({ connect: connector.connect })
  onTestFinished(() => agent.destroy())
  const { origin } = new URL(url)
  return agent.request({ origin, path: '/', method: 'POST', body: 'x' })
}
const resolvesTo =
  (...found: LookupAddress[]): Resolve =>
  (_name, callback) => {
    callback(null, found)
    return () => undefined
  }
const rejected = expect.objectContaining({ code: 'ERR_ADDRESS_REJECTED' })

/** A resolver answer that is public at the first read, and this machine at each later read. */
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

describe('guardedConnector', () => {
  it('rejects a socket that is connected to another address than the checked one, before a byte is sent', async () => {
    const server = await startTempTcp()
    const found = turncoat()
    await expect(connect(`https://hook.example:${server.port}`, resolvesTo(found))).rejects.toEqual(rejected)
    // The connection was opened: only the check of the socket can have rejected it.
    expect(found.reads).toBeGreaterThan(1)
    await eventually(() => server.connections() === 1 && server.open() === 0)
    expect(server.received()).toBe('')
  })

  it.each<[string, (readonly string[])?]>([
    ['https://127.0.0.1', ['127.0.0.0/8']],
    ['https://hook.example', ['127.0.0.0/8']],
    // Outside of development, and without any rule about URLs before it.
    ['https://127.0.0.1'],
    ['https://[::1]'],
    ['https://[::ffff:127.0.0.1]'],
    ['http://127.0.0.1'],
  ])('rejects %s without a connection, whatever the operator denied: %j', async (origin, denied) => {
    const server = await startTempTcp()
    const loopback = resolvesTo({ address: '127.0.0.1', family: 4 })
    await expect(connect(`${origin}:${server.port}`, loopback, denied)).rejects.toEqual(rejected)
    expect(server.connections()).toBe(0)
  })
})
