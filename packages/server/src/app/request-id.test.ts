import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { paths } from '@payment-integration/contract'
import { describe, expect, it } from 'vitest'
import { captureLog } from '../../test/support/captured-log.js'
import { chosenService, goodAuthorization } from '../../test/support/integration-service.js'
import { listenTempApp } from '../../test/support/listening-app.js'
import type { AppDeps } from './create-app.js'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A listening app with the lines of its log. */
async function start(deps: Partial<AppDeps> = {}) {
  const { logger, parsed } = await captureLog('info')
  const { url } = await listenTempApp({ logger, ...deps })
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${url}${path}`, { headers })
  return { parsed, get, url }
}

describe('the id of a request', () => {
  it.each([
    ...['a', 'order-7/abc.DEF_~!', 'x'.repeat(128)].map((id) => [id, id] as const),
    ...['with space', 'x'.repeat(129), 'caf\u00e9', ''].map((id) => [id, expect.stringMatching(uuid)] as const),
  ])('is the given one where it is well formed, else a new one: %j', async (id, answered) => {
    const { get } = await start()
    expect((await get('/health', { 'x-request-id': id })).headers.get('x-request-id')).toEqual(answered)
  })

  it('is in answers to messages that never reach the app', async () => {
    const { url } = await start()
    const raw = async (message: string) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(message))
      return text(socket)
    }
    const answer = await raw('GET / HTTP/1.1\r\nX-Request-Id: mine\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*\r\nX-Request-Id: mine\r\n/s)
    expect(await raw('nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*\r\nX-Request-Id: [0-9a-f-]{36}\r\n/s)
  })

  it('is in the log lines of the share of the request, also after a wait, and of no other request', async () => {
    const { logger, parsed } = await captureLog('info')
    const share = async ({ email }: { email: string }) => {
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      logger.warn({ reason: email }, 'x')
      return {}
    }
    const { url } = await start({ service: { ...chosenService(), identity: { share } } as never })
    const post = (id: string) =>
      fetch(`${url}${paths.shareToken}`, {
        method: 'POST',
        headers: { authorization: goodAuthorization, 'content-type': 'application/json', 'x-request-id': id },
        body: JSON.stringify({ email: `${id}@shop.example`, kycShareToken: 'token' }),
      })
    const answers = await Promise.all(['one', 'two', 'three'].map(post))
    logger.warn({}, 'x')
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const found = parsed().map((fields) => [fields['reason'], fields['requestId']])
    expect(found.toSorted()).toEqual([
      [undefined, undefined],
      ['one@shop.example', 'one'],
      ['three@shop.example', 'three'],
      ['two@shop.example', 'two'],
    ])
  })
})

it('the access log has one line per request, with route pattern and id, and neither path nor query', async () => {
  const { parsed, get } = await start({ accessLog: true })
  await get(`/api/v1/integration/payments/0x${'ab'.repeat(32)}?key=CANARY`, { 'x-request-id': 'mine' })
  await get('/CANARY')
  expect(parsed()).toEqual([
    {
      level: 30,
      time: expect.any(String),
      ms: expect.any(Number),
      msg: 'A request was answered.',
      method: 'GET',
      route: '/api/v1/integration/payments/:txHash',
      status: 401,
      requestId: 'mine',
    },
    expect.objectContaining({ route: 'none', status: 404, requestId: expect.stringMatching(uuid) }),
  ])
})
