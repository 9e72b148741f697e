/** Cases of the table that need a request and its answer. @module */
import { expect } from 'vitest'
import type { IncomingDelivery } from '../../src/adapters/handler-options.js'
import { signDelivery } from '../../src/exports/signing.js'
import { createTestSnapshot } from '../../src/exports/testing.js'
import { type Cases, delivery, patience, secret } from './fixture.js'
import type { Sent } from './host.js'

/** Headers that sign the given bytes. */
async function signed(body: Uint8Array): Promise<Sent> {
  const { headers } = await delivery()
  const timestamp = Math.floor(Date.now() / 1000)
  return { headers: { ...headers, 'X-Service-Signature': await signDelivery({ secret, timestamp, body }) }, body }
}

const failing = (error: unknown) => ({ receive: () => Promise.reject(error) })

export const answerCases: Cases = {
  async 'a signed delivery is received as it was sent, and answered with 204 and nothing else'(bench) {
    const { start, snapshots, errors, rejections } = bench
    const snapshot = createTestSnapshot({ version: 7, recipient: { title: 'Škoda 漢字 "\\u0041"', subtitle: null } })
    const got = await (await start()).send(await delivery({ snapshot }))
    expect(got).toMatchObject({ status: 204, body: '' })
    expect([snapshots, errors, rejections]).toEqual([[snapshot], [], []])
  },
  async 'bytes that are no UTF-8, and a byte order mark, arrive unchanged'({ start }) {
    const body = Uint8Array.from([0xef, 0xbb, 0xbf, 0xff, 0x00, 0x7b])
    const arrived: Uint8Array[] = []
    const receive = async (incoming: IncomingDelivery) =>
      void arrived.push(new Uint8Array(await incoming.arrayBuffer()), new Uint8Array(await incoming.arrayBuffer()))
    const host = await start({ receive })
    const got = await host.send({ headers: { 'Content-Type': 'application/octet-stream' }, body })
    expect([got.status, arrived]).toEqual([204, [body, body]])
  },
  async 'the content type does not matter'({ start, snapshots }) {
    const host = await start()
    const { headers, body } = await delivery()
    const { 'Content-Type': _, ...rest } = headers
    const types = ['application/json; charset=utf-8', 'text/plain', 'application/x-www-form-urlencoded']
    const statuses = [(await host.send({ headers: rest, body })).status]
    for (const type of types)
      statuses.push((await host.send({ headers: { ...rest, 'Content-Type': type }, body })).status)
    expect(statuses).toEqual([204, 204, 204, 204])
    expect(snapshots).toHaveLength(4)
  },
  async 'a content type that is none does not matter either'({ start }) {
    const { headers, body } = await delivery()
    const got = await (await start()).send({ headers: { ...headers, 'Content-Type': 'nonsense' }, body })
    expect(got.status).toBe(204)
  },
  async 'what the service did not sign is rejected with the status of its code and no reason'(bench) {
    const { start, snapshots, errors, rejections } = bench
    const host = await start()
    const sent = [
      await delivery({ fault: 'forged' }),
      await delivery({ fault: 'tampered' }),
      await delivery({ fault: 'unsigned' }),
      await delivery({ ageSeconds: 400 }),
      await delivery({ ageSeconds: -400 }),
    ]
    const got = []
    for (const one of sent) got.push(await host.send(one))
    expect(got.map(({ status, body }) => `${status} ${body}`)).toEqual([
      ...Array(3).fill('401 {"error":"Unauthorized"}'),
      ...Array(2).fill('400 {"error":"Bad Request"}'),
    ])
    for (const { headers } of got)
      expect(headers['content-type'] ?? headers['Content-Type']).toMatch(/^application\/json/)
    expect(rejections.map(({ code }) => code)).toEqual([
      ...['ERR_SIGNATURE_MISMATCH', 'ERR_SIGNATURE_MISMATCH', 'ERR_SIGNATURE_MISSING'],
      ...['ERR_DELIVERY_STALE', 'ERR_DELIVERY_FUTURE'],
    ])
    expect([snapshots, errors]).toEqual([[], []])
  },
  async 'what the service signed and the receiver cannot take is a rejection, and onError is told of it too'(bench) {
    const { start, snapshots, errors, rejections } = bench
    const host = await start()
    const { headers, body } = await delivery()
    const sent = [
      await signed(new TextEncoder().encode('{}')),
      await signed(new Uint8Array()),
      { headers: { ...headers, 'X-Service-Integration': `0x${'0e'.repeat(20)}` }, body },
    ]
    const got = []
    for (const one of sent) got.push(await host.send(one))
    expect(got.map(({ status, body: text }) => [status, text])).toEqual(Array(3).fill([400, '{"error":"Bad Request"}']))
    const codes = ['ERR_SNAPSHOT_INVALID', 'ERR_SNAPSHOT_INVALID', 'ERR_INTEGRATION_MISMATCH']
    expect(rejections.map(({ code }) => code)).toEqual(codes)
    expect([snapshots, errors]).toEqual([[], rejections])
  },
  async 'a signature header that comes twice does not pass as one'({ start, snapshots, rejections }) {
    const { headers, body } = await delivery()
    const value = `${headers['X-Service-Signature']}`
    const got = await (await start()).send({ headers: { ...headers, 'X-Service-Signature': [value, value] }, body })
    expect([got.status, rejections[0]?.code, snapshots]).toEqual([400, 'ERR_SIGNATURE_MALFORMED', []])
  },
  async 'a body of exactly maxBytes is read, one byte more is 413'({ start, errors, rejections }) {
    const lengths: number[] = []
    const receive = async (incoming: IncomingDelivery) => void lengths.push((await incoming.arrayBuffer()).byteLength)
    const host = await start({ receive, maxBytes: 100 })
    const headers = { 'Content-Type': 'application/json' }
    const filled = (length: number) => ({ headers, body: new TextEncoder().encode(`[${' '.repeat(length - 2)}]`) })
    const got = [await host.send(filled(100)), await host.send(filled(101)), await host.send(filled(100_000))]
    expect(got.map(({ status }) => status)).toEqual([204, 413, 413])
    expect(got[1]?.body).toBe('{"error":"Payload Too Large"}')
    expect(rejections.map(({ code }) => code)).toEqual(['ERR_BODY_TOO_LARGE', 'ERR_BODY_TOO_LARGE'])
    expect([lengths, errors]).toEqual([[100], []])
  },
  async 'an error of receive is 500, is told to onError as it is, and tells the sender nothing'(bench) {
    const { start, errors, rejections } = bench
    const lookAlike = Object.assign(new Error('no such order 4711'), { code: 'ERR_BAD_REQUEST', status: 404 })
    const thrown = [lookAlike, new TypeError('no such order 4711'), 'no such order 4711', undefined, null]
    for (const error of thrown) {
      const got = await (await start(failing(error))).send(await delivery())
      expect([got.status, got.body]).toEqual([500, '{"error":"Internal Server Error"}'])
    }
    const atOnce = (): never => {
      throw lookAlike
    }
    expect((await (await start({ receive: atOnce })).send(await delivery())).status).toBe(500)
    expect(errors).toEqual([...thrown, lookAlike])
    expect(rejections).toEqual([])
  },
  async 'an error whose code says busy is 503'({ start, errors }) {
    for (const code of ['ERR_VERSION_STORE_BUSY', '40001', '40P01']) {
      const got = await (await start(failing(Object.assign(new Error('busy'), { code })))).send(await delivery())
      expect([got.status, got.body]).toEqual([503, '{"error":"Service Unavailable"}'])
    }
    expect(errors).toHaveLength(3)
  },
  async 'listeners that throw or reject change no answer'({ start }) {
    const onError = () => Promise.reject(new Error('log is full'))
    const onRejection = () => {
      throw new Error('log is full')
    }
    expect((await (await start({ ...failing(1), onError })).send(await delivery())).status).toBe(500)
    expect((await (await start({ onRejection })).send(await delivery({ fault: 'forged' }))).status).toBe(401)
  },
  async 'a receive that never ends is answered with 503 at the deadline, and its signal is aborted'(bench) {
    const { start, errors, rejections } = bench
    const reasons: unknown[] = []
    const host = await start({
      deadlineMs: 60,
      receive: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason)
            reject(signal.reason)
          })
        }),
    })
    const got = await host.send(await delivery())
    expect([got.status, got.body]).toEqual([503, '{"error":"Service Unavailable"}'])
    expect(reasons).toEqual([expect.objectContaining({ code: 'ERR_RECEIVE_TIMEOUT' })])
    expect([errors, rejections]).toEqual([reasons, []])
  },
  async 'what fails after the deadline is told as well'({ start, errors }) {
    let fail: (error: unknown) => void = () => undefined
    const host = await start({ deadlineMs: 20, receive: () => new Promise((_, reject) => (fail = reject)) })
    expect((await host.send(await delivery())).status).toBe(503)
    fail('the disk is full')
    await expect.poll(() => errors.at(-1), patience).toBe('the disk is full')
  },
  async 'other methods than POST are 405 with Allow, and reach nothing'({ start, snapshots, errors }) {
    const host = await start()
    const { headers } = await delivery()
    const got = []
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])
      got.push(await host.send({ method, headers }))
    expect(got.map(({ status }) => status)).toEqual([405, 405, 405, 405, 405, 405])
    expect(got.map(({ headers: all }) => all['allow'] ?? all['Allow'])).toEqual(Array(6).fill('POST'))
    expect(got[0]?.body).toBe('{"error":"Method Not Allowed"}')
    expect([snapshots, errors]).toEqual([[], []])
  },
  async 'behind a JSON parser every delivery is 500 at once, and onError is told the cure of this framework'(bench) {
    const { start, snapshots, errors, cure } = bench
    const host = await start({}, true)
    for (const sent of [await delivery(), await delivery({ fault: 'forged' })])
      expect(await host.send(sent)).toMatchObject({ status: 500, body: '{"error":"Internal Server Error"}' })
    expect(errors).toHaveLength(2)
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'ERR_BODY_NOT_RAW', message: expect.stringMatching(cure) })
      expect(String(error)).not.toContain('Example Coffee')
    }
    expect(snapshots).toEqual([])
  },
}
