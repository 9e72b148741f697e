import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { createHonoHandler } from '../../src/exports/hono.js'
import { createVerifier } from '../../src/exports/index.js'
import { adapterConformance } from './conformance.js'
import { delivery, secret } from './fixture.js'
import { hostOf } from './host.js'

adapterConformance({
  name: 'createHonoHandler',
  cure: /before the middleware that reads the body/,
  async start(options, parser) {
    const app = new Hono()
    if (parser)
      app.use(async (context, next) => {
        if (context.req.method === 'POST') await context.req.json()
        await next()
      })
    app.all('/webhook', createHonoHandler(options))
    return hostOf(createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false })))
  },
})

test('a middleware that reads a clone leaves the delivery whole', async () => {
  const { verify } = createVerifier({ secrets: secret })
  const read: unknown[] = []
  const app = new Hono()
  app.use(async (context, next) => {
    read.push(await context.req.raw.clone().json())
    await next()
  })
  app.all('/webhook', createHonoHandler({ receive: verify }))
  const host = await hostOf(createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false })))
  onTestFinished(() => host.close())
  const sent = await delivery()
  expect([(await host.send(sent)).status, read]).toEqual([204, [JSON.parse(Buffer.from(sent.body).toString())]])
})
