import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { createHonoHandler } from '../../src/exports/hono.js'
import { adapterConformance } from './conformance.js'
import { createHost } from './host.js'

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
    return createHost(createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false })))
  },
})
