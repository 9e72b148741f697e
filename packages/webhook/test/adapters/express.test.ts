import { createServer } from 'node:http'
import express, { type RequestHandler } from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { createExpressHandler } from '../../src/exports/express.js'
import { createVerifier, type VerifierOptions } from '../../src/exports/index.js'
import { delivery, secret } from './fixture.js'
import { createHost } from './host.js'

const forgets: RequestHandler = (request, _response, next) => void request.resume().on('end', next)

/** Sends a signed delivery through a middleware. Returns the status, and the errors that onError heard. */
async function behind(
  middleware: RequestHandler,
  sent = delivery(),
  secrets: VerifierOptions['secrets'] = secret,
): Promise<[number, string]> {
  const { verify } = createVerifier({ secrets })
  const told: unknown[] = []
  const app = express()
  app.use(middleware)
  app.all('/webhook', createExpressHandler({ receive: verify, onError: (error) => told.push(error) }))
  const host = await createHost(createServer(app))
  onTestFinished(() => host.close())
  const { status } = await host.send(await sent)
  return [status, told.map((error) => (error as Error).message).join()]
}

test('bytes that a parser kept are verified: express.raw(), and express.json() by the cure', async () => {
  expect(await behind(express.raw({ type: 'application/json' }))).toEqual([204, ''])
  const verify = (request: object, _response: unknown, bytes: Buffer) => void Object.assign(request, { rawBody: bytes })
  expect(await behind(express.json({ verify }))).toEqual([204, ''])
  expect(await behind(express.json({ verify }), delivery({ fault: 'tampered' }))).toEqual([401, ''])
})

test('decoded text, and a stream that something read and forgot, are told as what they are', async () => {
  const [status, message] = await behind(express.text({ type: 'application/json' }))
  expect([status, message]).toEqual([500, expect.stringMatching(/^The body is decoded text;/)])
  expect(await behind(forgets)).toEqual([
    500,
    expect.stringMatching(/^The body is a stream that something else has read/),
  ])
})

test('a body without bytes, read by something else, is an empty body and does not hang', async () => {
  const { headers } = await delivery()
  expect(await behind(forgets, Promise.resolve({ headers, body: new Uint8Array() }))).toEqual([401, ''])
})

test('a stream that something else reads while receive looks for the secret is told, and no part of a body is taken for all', async () => {
  const listens: RequestHandler = (request, _response, next) => {
    request.on('data', () => undefined)
    next()
  }
  const slowSecrets = async () => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return secret
  }
  expect(await behind(listens, delivery(), slowSecrets)).toEqual([
    500,
    expect.stringContaining('something else has read'),
  ])
})
