/** Bytes and errors of another realm, as jest and workers have them, and values that are empty. */
import { Readable } from 'node:stream'
import { createContext, runInContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { NodeHandler, NodeRequest } from '../../src/adapters/node.js'
import { createExpressHandler } from '../../src/exports/express.js'
import { createFetchHandler } from '../../src/exports/fetch.js'
import { createVerifier, isWebhookRejection } from '../../src/exports/index.js'
import { createLambdaHandler, type LambdaEventLike } from '../../src/exports/lambda.js'
import { createNodeHandler } from '../../src/exports/node.js'
import { signDelivery } from '../../src/exports/signing.js'
import { delivery, secret } from './fixture.js'

const realm = createContext({})
const { verify } = createVerifier({ secrets: secret })

/** The bytes as a value of the realm. @param code - Makes the value from `bytes`, a Uint8Array of the realm. */
function foreign(body: Uint8Array, code = 'bytes'): never {
  const list = JSON.stringify([...body])
  return runInContext(`{ const bytes = new Uint8Array(${list}); (${code}) }`, realm) as never
}

const forms = {
  'a Uint8Array': 'bytes',
  'a part of a larger Uint8Array': 'new Uint8Array([1, ...bytes, 2]).subarray(1, bytes.length + 1)',
  'a DataView': 'new DataView(bytes.buffer)',
  'an ArrayBuffer': 'bytes.buffer',
}

/** Calls a handler of a Node framework. Returns the status. */
async function call(handler: NodeHandler, request: object): Promise<number> {
  const response = { statusCode: 0, headersSent: false, setHeader: () => undefined, end: () => undefined }
  await handler(request as NodeRequest, response)
  return response.statusCode
}
const nothing = () => undefined
const read = { method: 'POST', readableDidRead: true, readableEnded: true, on: nothing, resume: nothing }

describe('bytes of another realm', () => {
  test('are told apart from those of this one by instanceof', async () => {
    expect(foreign(Uint8Array.of(1))).not.toBeInstanceOf(Uint8Array)
    expect(foreign(Uint8Array.of(1), 'bytes.buffer')).not.toBeInstanceOf(ArrayBuffer)
  })

  test.each(Object.entries(forms))('are verified as %s', async (_form, code) => {
    const { headers, body } = await delivery()
    await expect(verify({ headers, body: foreign(body, code) })).resolves.toMatchObject({ secretIndex: 0 })
  })

  test.each(Object.entries(forms))(
    'are the rawBody or body of a Node or Express request, as %s',
    async (_form, code) => {
      const { headers, body } = await delivery()
      for (const make of [createNodeHandler, createExpressHandler])
        for (const kept of ['rawBody', 'body'])
          expect(await call(make({ receive: verify }), { ...read, headers, [kept]: foreign(body, code) })).toBe(204)
    },
  )

  test.each(Object.entries(forms).slice(0, 3))('are chunks of a Node request, as %s', async (_form, code) => {
    const { headers, body } = await delivery()
    const [first, last] = [body.subarray(0, 10), body.subarray(10)]
    for (const make of [createNodeHandler, createExpressHandler]) {
      const request = Readable.from([foreign(first, code), foreign(last, code)])
      expect(await call(make({ receive: verify }), Object.assign(request, { method: 'POST', headers }))).toBe(204)
    }
  })

  test('are discarded as bytes after an answer without them', async () => {
    const { body } = await delivery()
    const request = Object.assign(Readable.from([foreign(body)]), { method: 'PUT', headers: {} })
    expect(await call(createNodeHandler({ receive: verify }), request)).toBe(405)
  })

  test('are read from a fetch request', async () => {
    const { headers, body } = await delivery()
    const values = [foreign(body)]
    const reader = {
      read: async () => ({ done: values.length === 0, value: values.pop() }),
      cancel: async () => undefined,
    }
    const request = {
      ...{ method: 'POST', bodyUsed: false, headers: new Headers(headers as never) },
      ...{ body: { locked: false, getReader: () => reader }, arrayBuffer: () => Promise.reject(new Error('unused')) },
    }
    expect((await createFetchHandler({ receive: verify })(request as never)).status).toBe(204)
  })

  test('are signed', async () => {
    const bytes = new TextEncoder().encode('{}')
    const input = { secret, timestamp: 1_700_000_000 }
    expect(await signDelivery({ ...input, body: foreign(bytes) })).toBe(await signDelivery({ ...input, body: bytes }))
    for (const body of ['{}', {}, null, undefined, foreign(bytes, 'bytes.buffer')])
      await expect(signDelivery({ ...input, body: body as never })).rejects.toThrow(/body is not a Uint8Array/)
  })
})

test('a rejection of another realm, or of another copy of this package, is known', () => {
  const rejection =
    "Object.assign(new Error('x'), { name: 'WebhookError', code: 'ERR_SIGNATURE_MISMATCH', status: 401 })"
  expect(isWebhookRejection(runInContext(rejection, realm))).toBe(true)
})

test('text and parsed bodies are no bytes, whatever the realm', async () => {
  const { headers, body } = await delivery()
  const parsed = runInContext(`(${new TextDecoder().decode(body)})`, realm)
  for (const kept of [new TextDecoder().decode(body), parsed, runInContext('[1, 2]', realm)])
    for (const make of [createNodeHandler, createExpressHandler]) {
      const codes: string[] = []
      const options = { receive: verify, onError: (error: unknown) => codes.push((error as { code: string }).code) }
      expect(await call(make(options), { ...read, headers, body: kept })).toBe(500)
      expect(codes).toEqual(['ERR_BODY_NOT_RAW'])
    }
})

describe('a value that is empty', () => {
  test('stands back for bytes that another parser kept', async () => {
    const { headers, body } = await delivery()
    for (const kept of [
      { rawBody: new Uint8Array(), body },
      { rawBody: body, body: new Uint8Array() },
    ])
      expect(await call(createNodeHandler({ receive: verify }), { ...read, headers, ...kept })).toBe(204)
  })

  test('in a Lambda event is none: the other field of the same meaning counts', async () => {
    const { headers, body } = await delivery()
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()]))
    const event: LambdaEventLike = { httpMethod: 'POST', body: new TextDecoder().decode(body) }
    const handler = createLambdaHandler({ receive: verify })
    const http = { requestContext: { http: { method: 'POST' } } }
    const empty = Object.fromEntries(Object.keys(headers).map((name) => [name.toUpperCase(), []]))
    for (const [name, change] of Object.entries<LambdaEventLike>({
      'multiValueHeaders {}': { multiValueHeaders: {}, headers: headers as never },
      'headers {}': { multiValueHeaders: lists, headers: {} },
      'multiValueHeaders null': { multiValueHeaders: null, headers: headers as never },
      'headers null': { multiValueHeaders: lists, headers: null },
      'lists of no value': { multiValueHeaders: empty, headers: headers as never },
      'only some lists': { multiValueHeaders: { Accept: ['*/*'] }, headers: headers as never },
      'httpMethod empty': { ...http, httpMethod: '', headers: headers as never },
    }))
      expect((await handler({ ...event, ...change })).statusCode, name).toBe(204)
  })
})
