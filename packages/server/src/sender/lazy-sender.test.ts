import type { PostRequest } from '@payment-integration/core/ports'
import { afterEach, describe, expect, it } from 'vitest'
import { startTcp, type TcpServer } from '../../test/support/tcp-server.js'
import { createLazySender } from './lazy-sender.js'

const local = { allowLoopbackHttp: true, connectTimeoutMs: 600_000 }
let server: TcpServer | undefined
afterEach(() => server?.stop())

const receiver = async () => {
  server = await startTcp((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
  return server.url
}
const post = (url: string): PostRequest => ({ url, headers: {}, body: Buffer.from('{}'), timeoutMs: 600_000 })

describe('createLazySender', () => {
  it.each([{ servers: ['dns.example'] }, { denied: ['203.0.113.0/64'] }])('rejects %j before any POST', (options) => {
    expect(() => createLazySender(options)).toThrow(TypeError)
  })

  it('sends POSTs from before and after it is loaded', async () => {
    const url = await receiver()
    const sender = createLazySender(local)
    const early = [sender.post(post(url)), sender.post(post(url))]
    for (const answer of await Promise.all(early)) expect(answer).toMatchObject({ kind: 'answer', status: 204 })
    expect(await sender.post(post(url))).toMatchObject({ kind: 'answer', status: 204 })
    await sender.close()
  })

  it('passes its options on: by default an endpoint on this machine is rejected', async () => {
    const sender = createLazySender({})
    expect(await sender.post(post(await receiver()))).toMatchObject({ kind: 'failure', reason: 'refused_address' })
    await sender.close()
  })

  it('posts nothing once it is closed, loaded or not', async () => {
    const url = await receiver()
    const [unused, used] = [createLazySender(local), createLazySender(local)]
    await used.post(post(url))
    for (const sender of [unused, used]) {
      await sender.close()
      expect(await sender.post(post(url))).toMatchObject({ kind: 'failure', reason: 'connection' })
    }
    expect(server?.received().match(/POST/g)).toHaveLength(1)
  })
})
