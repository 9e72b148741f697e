import type { PostRequest } from '@payment-integration/core/ports'
import { describe, expect, it } from 'vitest'
import { startTempTcp } from '../../test/support/tcp-server.js'
import { createLazySender } from './lazy-sender.js'

const receiver = () => startTempTcp((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
const create = () => createLazySender({ allowLoopbackHttp: true })
const post = (url: string): PostRequest => ({ url, headers: {}, body: Buffer.from('{}'), timeoutMs: 5_000 })

describe('createLazySender', () => {
  it.each([{ servers: ['dns.example'] }, { denied: ['203.0.113.0/64'] }])('rejects %j before any POST', (options) => {
    expect(() => createLazySender(options)).toThrow(TypeError)
  })

  it('sends POSTs from before and after it is loaded', async () => {
    const { url } = await receiver()
    const sender = create()
    const early = [sender.post(post(url)), sender.post(post(url))]
    for (const answer of await Promise.all(early)) expect(answer).toMatchObject({ kind: 'answer', status: 204 })
    expect(await sender.post(post(url))).toMatchObject({ kind: 'answer', status: 204 })
    await sender.close()
  })

  it('passes its options on: by default an endpoint on this machine is rejected', async () => {
    const sender = createLazySender({})
    expect(await sender.post(post((await receiver()).url))).toMatchObject({
      kind: 'failure',
      reason: 'refused_address',
    })
    await sender.close()
  })

  it('posts nothing once it is closed, loaded or not', async () => {
    const { url, received } = await receiver()
    const [unused, used] = [create(), create()]
    await used.post(post(url))
    for (const sender of [unused, used]) {
      await sender.close()
      expect(await sender.post(post(url))).toMatchObject({ kind: 'failure', reason: 'connection' })
    }
    expect(received().match(/POST/g)).toHaveLength(1)
  })
})
