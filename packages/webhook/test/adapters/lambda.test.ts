import { expect, test } from 'vitest'
import type { HandlerOptions } from '../../src/adapters/handler-options.js'
import { createVerifier } from '../../src/exports/index.js'
import { createLambdaHandler } from '../../src/exports/lambda.js'
import { delivery, secret } from './fixture.js'
import { context, httpEvent } from './lambda-gateways.js'

const { verify } = createVerifier({ secrets: secret })

test('Base64 that is none is rejected as unreadable', async () => {
  const codes: string[] = []
  const options: HandlerOptions = { receive: verify, onRejection: ({ code }) => codes.push(code) }
  const { headers } = await delivery()
  const event = httpEvent('POST', new Map(Object.entries(headers).map(([k, v]) => [k, [v].flat()])), '****', true)
  expect((await createLambdaHandler(options)(event, context)).statusCode).toBe(400)
  expect(codes).toEqual(['ERR_BODY_UNREADABLE'])
})

test("the answer comes before the function's own time-out", async () => {
  const options: HandlerOptions = { receive: () => new Promise(() => undefined), onError: () => undefined }
  const event = httpEvent('POST', new Map(), '', false)
  const soon = { getRemainingTimeInMillis: () => 300 }
  expect((await createLambdaHandler(options)(event, soon)).statusCode).toBe(503)
})

test('an event without a method is 405', async () => {
  expect((await createLambdaHandler({ receive: verify })({}, context)).statusCode).toBe(405)
})
