import { createServer } from 'node:http'
import { bodyParser } from '@koa/bodyparser'
import Koa from 'koa'
import { expect, onTestFinished, test } from 'vitest'
import { createFetchHandler } from '../../src/exports/fetch.js'
import { createVerifier } from '../../src/exports/index.js'
import { createKoaHandler } from '../../src/exports/koa.js'
import { adapterConformance } from './conformance.js'
import { delivery, secret } from './fixture.js'
import { createHost } from './host.js'
import { listenFetch, subjects } from './subjects.js'

for (const subject of subjects) adapterConformance(subject)

const { verify } = createVerifier({ secrets: secret })

test('a middleware that reads a clone leaves the delivery whole', async () => {
  const read: unknown[] = []
  const handle = createFetchHandler({ receive: verify })
  const host = await listenFetch(async (request) => {
    read.push(await request.clone().json())
    return handle(request)
  })
  onTestFinished(() => host.close())
  const sent = await delivery()
  expect([(await host.send(sent)).status, read]).toEqual([204, [JSON.parse(Buffer.from(sent.body).toString())]])
})

test('behind bodyParser() of Koa the cure ctx.disableBodyParser helps', async () => {
  const app = new Koa()
  const deliveries = createKoaHandler({ receive: verify })
  app.use((ctx, next) => {
    Object.assign(ctx, { disableBodyParser: true })
    return next()
  })
  app.use(bodyParser())
  app.use((ctx) => deliveries(ctx))
  const host = await createHost(createServer(app.callback()))
  onTestFinished(() => host.close())
  expect((await host.send(await delivery())).status).toBe(204)
})
