import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { createFastifyHandler, fastifyReceiver } from '../../src/adapters/fastify.js'
import { createVerifier } from '../../src/exports/index.js'
import { delivery, secret } from './fixture.js'

const { verify } = createVerifier({ secrets: secret })

test('the plugin takes a prefix, and leaves the parsers of other routes alone', async () => {
  const app = fastify()
  onTestFinished(() => app.close())
  // biome-ignore lint/nursery/noMisusedPromises: register takes promises too; the rule sees the first overload only.
  await app.register(fastifyReceiver, { prefix: '/payments', url: '/webhook', receive: verify })
  app.post('/json', async (request) => request.body)
  const { headers, body } = await delivery()
  const sent = await app.inject({ method: 'POST', url: '/payments/webhook', headers, payload: Buffer.from(body) })
  expect(sent.statusCode).toBe(204)
  const json = await app.inject({ method: 'POST', url: '/json', payload: { kept: true } })
  expect(json.json()).toEqual({ kept: true })
})

test('register rejects with what is wrong with the options', async () => {
  const app = fastify()
  onTestFinished(() => app.close())
  // biome-ignore lint/nursery/noMisusedPromises: register takes promises too; the rule sees the first overload only.
  app.register(fastifyReceiver, { url: '/webhook', receive: verify, deadlineMs: 0 })
  await expect(app.ready()).rejects.toThrow(RangeError)
})

test('a route of your own verifies what a parser keeps as a buffer', async () => {
  const app = fastify()
  onTestFinished(() => app.close())
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.post('/webhook', createFastifyHandler({ receive: verify }))
  const { headers, body } = await delivery()
  const inject = (payload: Buffer) => app.inject({ method: 'POST', url: '/webhook', headers, payload })
  expect((await inject(Buffer.from(body))).statusCode).toBe(204)
  expect((await inject(Buffer.from(`${Buffer.from(body)} `))).statusCode).toBe(401)
})
