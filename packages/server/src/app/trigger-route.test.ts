/** docs/decisions/trigger-and-listen.md over real HTTP, with a trigger that the test chooses. */
import { triggerPath } from '@payment-integration/contract/internal'
import { expect, test } from 'vitest'
import { goodAuthorization, integrationAddress } from '../../test/support/integration-service.js'
import { listenTempApp } from '../../test/support/listening-app.js'
import type { TriggerHandler } from './streaming-routes.js'

async function start(trigger: TriggerHandler | null) {
  const logged: unknown[] = []
  const note = (...parts: unknown[]) => void logged.push(parts)
  const app = await listenTempApp({ trigger, logger: { debug: note, info: note, warn: note, error: note } })
  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(`${app.url}${triggerPath}`, {
      method: 'POST',
      headers: { authorization: goodAuthorization, 'content-type': 'application/json', ...headers },
      body,
    })
  return { post, logged }
}
const oneEvent: TriggerHandler = async function* oneEvent(request, caller) {
  yield { request, caller }
}

test('each event is a line, with the JSON of the body and the authenticated caller', async () => {
  const { post } = await start(oneEvent)
  const response = await post('{"scenario":"payment"}')
  expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
    200,
    'application/x-ndjson',
    'private, no-store',
  ])
  expect(await response.text()).toBe(
    `{"request":{"scenario":"payment"},"caller":{"integrationAddress":"${integrationAddress}"}}\n`,
  )
})

test('where no chain is simulated the answer is 404, and 401 without credentials in either case', async () => {
  const { post } = await start(null)
  expect((await post('{}')).status).toBe(404)
  expect((await post('{}', { authorization: 'Basic x' })).status).toBe(401)
  expect((await (await start(oneEvent)).post('{', { authorization: 'Basic x' })).status).toBe(401)
})

const rejecting: TriggerHandler = () => {
  throw Object.assign(new Error('count must be a whole number from 1 to 10000.'), { code: 'ERR_TRIGGER_INVALID' })
}
test.each([
  ['a malformed value', '{}', {}, 400, 'count must be a whole number from 1 to 10000.'],
  ['no JSON', '{', {}, 400, 'Body is no JSON'],
  ['33 levels', `{"a":${'['.repeat(32)}${']'.repeat(32)}}`, {}, 400, 'Body is no JSON'],
  ['a byte order mark', '\ufeff{}', {}, 400, 'Body begins with a byte order mark; send UTF-8 without it'],
  ['no UTF-8', new Uint8Array([0x22, 0xff, 0x22]), {}, 400, 'Body is no JSON'],
  ['another content type', '{}', { 'content-type': 'text/plain' }, 415, 'Content-Type must be application/json'],
  ['a body over 16 KiB', `"${'x'.repeat(16_385)}"`, {}, 413, 'Body is larger than 16384 bytes'],
])('a request with %s is rejected with the reason', async (_, body, headers, status, error) => {
  const response = await (await start(rejecting)).post(body, headers)
  expect([response.status, await response.json()]).toEqual([status, { error }])
})

const failing = (error: Error): TriggerHandler =>
  async function* fail() {
    yield { event: 'block' }
    throw error
  }

test('a scenario that ends early because the receiver does not go along says why, as the last line', async () => {
  const error = Object.assign(new Error('The receiver did not accept version 1 (503).'), { code: 'ERR_TRIGGER' })
  const { post, logged } = await start(failing(error))
  const [, last = ''] = (await (await post('{}')).text()).trimEnd().split('\n')
  expect(JSON.parse(last)).toEqual({ event: 'failed', reason: error.message })
  expect(logged).toEqual([])
})
