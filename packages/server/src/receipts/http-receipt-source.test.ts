import type { ServerResponse } from 'node:http'
import { createUpdateReceiver } from '@payment-integration/core'
import type { StoredPayment } from '@payment-integration/core/ports'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { integrationAddress, signBody, txHash } from '../../test/support/integration-service.js'
import { startRecordingReceiver } from '../../test/support/recording-receiver.js'
import { eventually } from '../../test/support/tcp-server.js'
import { type ClosableReceiptSource, createHttpReceiptSource } from './http-receipt-source.js'

const now = 1_790_000_000_000
const secret = 'processor-secret-current'
const receiveUpdate = createUpdateReceiver({ secrets: [secret], clock: { now: () => now } })
const payment = { chainId: 1, txHash, integrationAddress } as StoredPayment
const update = { id: 'receipt-1', chainId: '1', txHash, state: 'success' }

let receiver: Awaited<ReturnType<typeof startRecordingReceiver>>
let source: ClosableReceiptSource
beforeEach(async () => {
  receiver = await startRecordingReceiver()
  source = createHttpReceiptSource({ url: `${receiver.url}/receipts`, receiveUpdate, timeoutMs: 600_000 })
})
afterEach(async () => {
  await source.close()
  await receiver.stop()
})

const sign = (body: string, at = now / 1_000) => signBody(body, secret, at)
/** Answers with a body and the signature of it, or of another. */
const signed =
  (body: string, signature = sign(body)) =>
  (_: unknown, response: ServerResponse) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'X-Service-Signature': signature }).end(body)
  }

describe('a receipt', () => {
  it('is the update that the processor signed', async () => {
    receiver.answer = signed(JSON.stringify(update))
    expect(await source.lookup(payment)).toEqual(update)
    expect([receiver.arrived[0]?.method, receiver.arrived[0]?.path]).toEqual([
      'GET',
      `/receipts/1/${txHash}?integrationAddress=${integrationAddress}`,
    ])
  })

  it('is requested with the credentials of the URL, in which a lone % is itself', async () => {
    receiver.answer = (_, response) => void response.writeHead(404).end()
    const url = `${receiver.url}/receipts`.replace('http://', 'http://us%20er:5%p%40ss@')
    const own = createHttpReceiptSource({ url: `${url}///`, receiveUpdate, timeoutMs: 600_000 })
    await own.lookup(payment)
    await own.close()
    expect(receiver.arrived[0]?.headers.authorization).toBe(`Basic ${Buffer.from('us er:5%p@ss').toString('base64')}`)
    expect(receiver.arrived[0]?.path).toMatch(/^\/receipts\/1\//)
  })
})

it('a receipt after an unasked 100 is read', async () => {
  const body = JSON.stringify(update)
  const head = `HTTP/1.1 200 OK\r\nX-Service-Signature: ${sign(body)}\r\nContent-Length: ${body.length}`
  receiver.answer = (_, response) => void response.socket?.write(`HTTP/1.1 100 Continue\r\n\r\n${head}\r\n\r\n${body}`)
  expect(await source.lookup(payment)).toEqual(update)
})

describe('an answer that is no receipt', () => {
  const body = JSON.stringify(update)
  it.each<[string, typeof receiver.answer]>([
    ['without a signature', (_, response) => response.end(body)],
    ['with a stale signature', signed(body, sign(body, now / 1_000 - 301))],
    ['with a signature of another body', signed(body, sign('{}'))],
    ['that is no JSON', signed('nonsense')],
    ['with an unknown field', signed(JSON.stringify({ ...update, extra: 1 }))],
    ['with several updates', signed(JSON.stringify({ updates: [update] }))],
    ['about another chain', signed(JSON.stringify({ ...update, chainId: '10' }))],
    ['about another transaction', signed(JSON.stringify({ ...update, txHash: `0x${'99'.repeat(32)}` }))],
    ['about another integration', signed(JSON.stringify({ ...update, integrationAddress: `0x${'99'.repeat(20)}` }))],
    ['of more than 16 KB', signed(body.padEnd(16_385, ' '))],
  ])('%s is ERR_RECEIPT_INVALID', async (_, behave) => {
    receiver.answer = behave
    await expect(source.lookup(payment)).rejects.toMatchObject({ name: 'ReceiptError', code: 'ERR_RECEIPT_INVALID' })
  })

  it.each([204, 301, 302, 401, 429, 500, 503])(
    '%i is ERR_RECEIPT_UNAVAILABLE, and no redirect is followed',
    async (code) => {
      receiver.answer = (_, response) => response.writeHead(code, { Location: receiver.url }).end()
      await expect(source.lookup(payment)).rejects.toMatchObject({ code: 'ERR_RECEIPT_UNAVAILABLE' })
      expect(receiver.arrived).toHaveLength(1)
    },
  )
})

describe('no answer', () => {
  it('in time is ERR_RECEIPT_UNAVAILABLE', async () => {
    receiver.answer = () => undefined
    source = createHttpReceiptSource({ url: receiver.url, receiveUpdate, timeoutMs: 100 })
    await expect(source.lookup(payment)).rejects.toMatchObject({ code: 'ERR_RECEIPT_UNAVAILABLE' })
  })

  it('after the caller aborted rejects at once', async () => {
    receiver.answer = () => undefined
    const controller = new AbortController()
    const pending = source.lookup(payment, controller.signal)
    await eventually(() => receiver.arrived.length === 1)
    controller.abort()
    await expect(pending).rejects.toMatchObject({ code: 'ERR_RECEIPT_UNAVAILABLE' })
  })
})

it.each(['', 'nonsense', 'ftp://a.example', 'https://a.example/?x=1', 'https://a.example/#x'])(
  'the address %j is rejected with a TypeError that does not repeat it',
  (url) => {
    const error = new TypeError('The receipts address must be an http(s) URL without query or fragment.')
    expect(() => createHttpReceiptSource({ url, receiveUpdate })).toThrow(error)
  },
)
