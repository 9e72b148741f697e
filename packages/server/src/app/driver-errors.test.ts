/** A database driver's error message belongs to the database log, not to callers or this log. */
import { randomBytes } from 'node:crypto'
import { createService, parseMasterKey } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { expect, it, onTestFinished } from 'vitest'
import { captureLog } from '../../test/support/captured-log.js'
import { listedChain } from '../../test/support/clause-chain.js'
import { processorSignature, receiveUpdate } from '../../test/support/clause-service.js'
import { goodAuthorization, legacyKey } from '../../test/support/integration-service.js'
import { listenTempApp } from '../../test/support/listening-app.js'
import { eventually } from '../../test/support/tcp-server.js'
import { createHealth } from './health.js'

/** An error as `pg` throws it, with the canary wherever values, statements or credentials can stand. */
function driverError(): Error {
  const cause = Object.assign(new Error('connect as CANARY:CANARY@db'), { address: 'CANARY' })
  return Object.assign(new Error('relation "CANARY" does not exist', { cause }), {
    code: '42P01',
    detail: 'Key (secret)=(CANARY) already exists.',
    where: 'CANARY',
    query: 'select CANARY',
    parameters: ['CANARY'],
  })
}

/** A database that answers a ping and fails every query. */
function failingStore(): Store {
  const fail = () => Promise.reject(driverError())
  const failing = (except: object, other: (name: string | symbol) => unknown = () => fail) =>
    new Proxy(except, { get: (_, name) => Reflect.get(except, name) ?? other(name) })
  const top = {
    ...{ migrate: fail, transaction: fail, sealingKeys: fail, assertNotNested: () => undefined },
    ...{ ping: async () => undefined, close: async () => undefined },
    deliveries: failing({ whenDue: () => () => undefined }),
  }
  return failing(top, () => failing({})) as Store
}

async function startOnFailingStore() {
  const { logger, lines, parsed } = await captureLog()
  const store = failingStore()
  const service = createService({
    store,
    logger,
    sender: { post: () => Promise.reject(new Error('nothing can be sent')) },
    masterKey: parseMasterKey(randomBytes(32).toString('hex')),
    chains: [{ chain: { ...listedChain(1).chain, nodes: () => [] }, startBlock: 0 }],
    receipts: { source: { lookup: async () => null }, everyMs: 100 },
  })
  const health = createHealth({ store, indexers: service.indexers })
  const { url } = await listenTempApp({ service, receiveUpdate, health, logger })
  const loops = new AbortController()
  const running = service.run(loops.signal)
  onTestFinished(async () => {
    loops.abort()
    await running
  })
  const logged = (part: string) => parsed().some(({ msg }) => String(msg).includes(part))
  return { url, lines, logged }
}

it('health, answers and the log show only the class and code of a driver error', async () => {
  const { url, lines, logged } = await startOnFailingStore()
  // Each loop has logged the error.
  for (const part of ['chain', 'outbox', 'final state']) await eventually(() => logged(part))

  const health = await (await fetch(`${url}/health`)).text()
  expect(JSON.parse(health)).toEqual({
    status: 'degraded',
    database: 'ok',
    chains: [
      {
        ...{ chainId: 1, leading: false, head: null, headAt: null, indexed: null, lag: null, proof: null },
        ...{ reorgs: 0, nodes: [], error: 'Error 42P01' },
        lastError: { message: 'Error 42P01', at: expect.any(Number) },
      },
    ],
  })
  const body = JSON.stringify({ id: 'u-1', chainId: '1', txHash: `0x${'12'.repeat(32)}`, state: 'pending' })
  const headers = { 'content-type': 'application/json', 'x-service-signature': processorSignature(body) }
  const answers = await Promise.all([
    fetch(`${url}/api/v1/integration/payments`, { headers: { authorization: goodAuthorization } }),
    fetch(`${url}/api/v1/tx/1/0x${'12'.repeat(32)}`, { headers: { authorization: legacyKey } }),
    fetch(`${url}/api/v1/processor/updates`, { method: 'POST', body, headers }),
  ])
  for (const answer of answers)
    expect([answer.status, await answer.text()]).toEqual([500, '{"error":"Internal error"}'])
  expect(lines.filter((line) => line.includes('"msg":"A request failed."'))).toHaveLength(3)
  expect(lines.join('')).not.toContain('CANARY')
  expect(lines.join('')).toContain('42P01')
})
