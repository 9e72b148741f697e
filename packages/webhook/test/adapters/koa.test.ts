import { createServer } from 'node:http'
import { bodyParser } from '@koa/bodyparser'
import Koa from 'koa'
import { expect, onTestFinished, test } from 'vitest'
import { createVerifier } from '../../src/exports/index.js'
import { createKoaHandler } from '../../src/exports/koa.js'
import { adapterConformance } from './conformance.js'
import { delivery, secret } from './fixture.js'
import { createHost } from './host.js'

adapterConformance({
  name: 'createKoaHandler before bodyParser()',
  cure: /before app\.use\(bodyParser\(\)\)/,
  async start(options, parser) {
    const app = new Koa()
    // Koa prints every upload that breaks off.
    app.silent = true
    const deliveries = createKoaHandler(options)
    if (parser) app.use(bodyParser())
    app.use((ctx, next) => (ctx.path === '/webhook' ? deliveries(ctx) : next()))
    app.use(bodyParser())
    return createHost(createServer(app.callback()))
  },
})

test('behind bodyParser() the cure ctx.disableBodyParser helps', async () => {
  const app = new Koa()
  const deliveries = createKoaHandler({ receive: createVerifier({ secrets: secret }).verify })
  app.use((ctx, next) => {
    if (ctx.path === '/webhook') Object.assign(ctx, { disableBodyParser: true })
    return next()
  })
  app.use(bodyParser())
  app.use((ctx) => deliveries(ctx))
  const host = await createHost(createServer(app.callback()))
  onTestFinished(() => host.close())
  expect((await host.send(await delivery())).status).toBe(204)
})
