import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createUpdateReceiver } from '@payment-integration/core'
import type { StoredPayment } from '@payment-integration/core/ports'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { integrationAddress, txHash } from '../../test/support/integration-service.js'
import { eventually } from '../../test/support/tcp-server.js'
import { type ClosableReceiptSource, createHttpReceiptSource } from './http-receipt-source.js'

const now = 1_790_000_000_000
const secret = 'processor-secret-current'
const receiveUpdate = createUpdateReceiver({ secrets: [secret], clock: { now: () => now } })
const payment = { chainId: 1, txHash, integrationAddress } as StoredPayment
const update = { id: 'receipt-1', chainId: '1', txHash, state: 'success' }

let answer: (request: IncomingMessage, response: ServerResponse) => void
let requests: IncomingMessage[]
let server: Server
let source: ClosableReceiptSource
let base: string
beforeEach(async () => {
  requests = []
  server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/receipts`
  source = createHttpReceiptSource({ url: base, receiveUpdate, timeoutMs: 500 })
})
afterEach(async () => {
  await source.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function signed(body: string, at = now / 1000) {
  const mac = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
  return (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'X-Service-Signature': `t=${at},v1=${mac}` })
    response.end(body)
  }
}
const status = (code: number) => (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(code).end()
}

describe('a receipt', () => {
  it('is the update that the processor signed', async () => {
    answer = signed(JSON.stringify(update))
    expect(await source.lookup(payment)).toEqual(update)
    expect([requests[0]?.method, requests[0]?.url]).toEqual([
      'GET',
      `/receipts/1/${txHash}?integrationAddress=${integrationAddress}`,
    ])
  })

  it('is requested with the credentials of the URL', async () => {
    answer = status(404)
    const url = base.replace('http://', 'http://us%20er:p%40ss@')
    const own = createHttpReceiptSource({ url: `${url}///`, receiveUpdate })
    await own.lookup(payment)
    await own.close()
    expect(requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from('us er:p@ss').toString('base64')}`)
    expect(requests[0]?.url).toMatch(/^\/receipts\/1\//)
  })
})

it.each([
  ['after an unasked 100', 'HTTP/1.1 100 Continue\r\n\r\n', ''],
  ['after several informational answers', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(3), ''],
  ['with a folded header field', '', 'X-Note: one\r\n two\r\n'],
])('a receipt %s is read', async (_, before, field) => {
  const at = now / 1_000
  const body = JSON.stringify(update)
  const mac = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
  answer = ({ socket }) =>
    socket.write(
      `${before}HTTP/1.1 200 OK\r\n${field}X-Service-Signature: t=${at},v1=${mac}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
  expect(await source.lookup(payment)).toEqual(update)
})

describe('an answer that is no receipt', () => {
  const body = JSON.stringify(update)
  it.each<[string, (request: IncomingMessage, response: ServerResponse) => void]>([
    ['without a signature', (_, response) => response.end(body)],
    ['with a stale signature', signed(body, now / 1000 - 301)],
    [
      'with a signature of another body',
      (_, response) => {
        signed('{}')(_, { writeHead: response.writeHead.bind(response), end: () => response.end(body) } as never)
      },
    ],
    ['that is no JSON', signed('nonsense')],
    ['with an unknown field', signed(JSON.stringify({ ...update, extra: 1 }))],
    ['about another chain', signed(JSON.stringify({ ...update, chainId: '10' }))],
    ['about another transaction', signed(JSON.stringify({ ...update, txHash: `0x${'99'.repeat(32)}` }))],
    ['about another integration', signed(JSON.stringify({ ...update, integrationAddress: `0x${'99'.repeat(20)}` }))],
    ['of more than 16 KB', signed(body.padEnd(16_385, ' '))],
  ])('%s is ERR_RECEIPT_INVALID', async (_, behave) => {
    answer = behave
    await expect(source.lookup(payment)).rejects.toMatchObject({ name: 'ReceiptError', code: 'ERR_RECEIPT_INVALID' })
  })

  it.each([204, 301, 302, 401, 429, 500, 503])(
    '%i is ERR_RECEIPT_UNAVAILABLE, and no redirect is followed',
    async (code) => {
      answer = (_, response) => response.writeHead(code, { Location: base }).end()
      await expect(source.lookup(payment)).rejects.toMatchObject({ code: 'ERR_RECEIPT_UNAVAILABLE' })
      expect(requests).toHaveLength(1)
    },
  )
})

describe('no answer', () => {
  it('in time is ERR_RECEIPT_UNAVAILABLE', async () => {
    answer = () => undefined
    await expect(source.lookup(payment)).rejects.toMatchObject({ code: 'ERR_RECEIPT_UNAVAILABLE' })
  })

  it('after the caller aborted rejects at once', async () => {
    answer = () => undefined
    const controller = new AbortController()
    const pending = source.lookup(payment, controller.signal)
    await eventually(() => requests.length === 1)
    controller.abort()
    await expect(pending).rejects.toMatchObject({ code: 'ERR_RECEIPT_UNAVAILABLE' })
  })
})

describe('createHttpReceiptSource', () => {
  it.each(['', 'nonsense', 'ftp://a.example', 'https://a.example/?x=1', 'https://a.example/#x'])(
    'rejects the address %j with a TypeError that does not repeat it',
    (url) => expect(() => createHttpReceiptSource({ url, receiveUpdate })).toThrow(TypeError),
  )
})
