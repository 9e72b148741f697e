/** Every adapter in its framework, set up as the guide says. @module */
import 'reflect-metadata'
import { createServer, type RequestListener, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import { bodyParser } from '@koa/bodyparser'
import { All, Controller, Module, Req, Res, type Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { apiResolver } from 'next/dist/server/api-utils/node/api-resolver.js'
import { NodeNextRequest, NodeNextResponse } from 'next/dist/server/base-http/node.js'
import { sendResponse } from 'next/dist/server/send-response.js'
import {
  NextRequestAdapter,
  signalFromNodeResponse,
} from 'next/dist/server/web/spec-extension/adapters/next-request.js'
import { createFastifyHandler, fastifyReceiver } from '../../src/adapters/fastify.js'
import type { HandlerOptions } from '../../src/adapters/handler-options.js'
import type { NodeRequest, NodeResponse } from '../../src/adapters/node.js'
import { createExpressHandler } from '../../src/exports/express.js'
import { createFetchHandler } from '../../src/exports/fetch.js'
import { createHonoHandler } from '../../src/exports/hono.js'
import { createKoaHandler } from '../../src/exports/koa.js'
import { createNestHandler } from '../../src/exports/nest.js'
import { createNextApi, createNextRoute } from '../../src/exports/next.js'
import { createNodeHandler } from '../../src/exports/node.js'
import { createWorkerHandler } from '../../src/exports/worker.js'
import { createHost, type Host, type Subject } from './host.js'
import { gatewaySubjects } from './lambda-gateways.js'

const listen = (listener: RequestListener) => createHost(createServer(listener))

/** A host of a function from request to response. With `parser`, something else reads the body first. */
export function listenFetch(handle: (request: Request) => unknown, parser = false): Promise<Host> {
  const answer = async (request: Request) => {
    if (parser && request.method === 'POST') await request.json()
    return (await handle(request)) as Response
  }
  return listen(getRequestListener(answer, { overrideGlobalObjects: false }))
}

/** A controller as decorators would make it; this compiler has none for parameters. */
function makeModule(options: HandlerOptions): Type {
  const handle = createNestHandler(options)
  class Webhooks {
    receive(request: NodeRequest, response: NodeResponse): Promise<void> {
      return handle(request, response)
    }
  }
  const method = Object.getOwnPropertyDescriptor(Webhooks.prototype, 'receive')
  All()(Webhooks.prototype, 'receive', method as PropertyDescriptor)
  Req()(Webhooks.prototype, 'receive', 0)
  Res()(Webhooks.prototype, 'receive', 1)
  Controller('webhook')(Webhooks)
  class AppModule {}
  Module({ controllers: [Webhooks] })(AppModule)
  return AppModule
}

async function controller(options: HandlerOptions, rawBody: boolean) {
  const app = await NestFactory.create(makeModule(options), { rawBody, logger: false })
  await app.listen(0, '127.0.0.1')
  return createHost(app.getHttpServer() as Server, () => app.close())
}

const parsedFirst = "Nest's body parser reads JSON before any controller"
const preview = { previewModeId: 'id', previewModeEncryptionKey: 'key', previewModeSigningKey: 'key' }

export const subjects: readonly Subject[] = [
  {
    name: 'createNodeHandler',
    cure: /Call the handler before anything else reads the request\./,
    async start(options, parser) {
      const handle = createNodeHandler(options)
      return listen(async (request, response) => {
        if (parser) Object.assign(request, { body: await json(request) })
        await handle(request, response)
      })
    },
  },
  {
    name: 'createExpressHandler above express.json()',
    cure: /above app\.use\(express\.json\(\)\)/,
    async start(options, parser) {
      const app = express()
      if (parser) app.use(express.json())
      app.all('/webhook', createExpressHandler(options))
      app.use(express.json())
      return listen(app)
    },
  },
  {
    name: 'fastifyReceiver in an app with its own JSON routes',
    cure: /app\.register\(fastifyReceiver, \{ url, receive \}\)/,
    async start(options, parser) {
      const app = fastify()
      app.post('/json', async (request) => request.body)
      if (parser) app.all('/webhook', createFastifyHandler(options))
      // biome-ignore lint/nursery/noMisusedPromises: register takes promises too, in its second overload.
      else await app.register(fastifyReceiver, { url: '/webhook', ...options })
      await app.listen({ host: '127.0.0.1', port: 0 })
      return createHost(app.server, () => app.close())
    },
    excuses: {
      'a content type that is none does not matter either': 'Fastify answers 415 before any handler and any parser',
    },
  },
  {
    name: 'createFetchHandler',
    cure: /read request\.clone\(\)/,
    start: (options, parser) => listenFetch(createFetchHandler(options), parser),
  },
  {
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
      return listenFetch(app.fetch)
    },
  },
  {
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
      return listen(app.callback())
    },
  },
  {
    name: 'createNestHandler in a controller, with rawBody: true',
    cure: /NestFactory\.create\(AppModule, \{ rawBody: true \}\)/,
    start: (options, parser) => controller(options, !parser),
    excuses: {
      'rejected headers are answered before the body came': parsedFirst,
      'a declared length over the limit is 413 before the body came': parsedFirst,
      'a sender that never stops is answered with 413 and cut off': parsedFirst,
      'an upload that breaks off is a rejection and no error, and the next delivery is received': parsedFirst,
      'a body that does not come is 408 at the deadline': parsedFirst,
      'a connection whose body does not come is closed soon after the answer': parsedFirst,
    },
  },
  {
    name: 'createNestHandler by app.use()',
    cure: /NestFactory\.create\(AppModule, \{ rawBody: true \}\)/,
    async start(options, parser) {
      if (parser) return controller(options, false)
      class AppModule {}
      Module({})(AppModule)
      const app = await NestFactory.create(AppModule, { logger: false })
      app.use('/webhook', createNestHandler(options))
      await app.listen(0, '127.0.0.1')
      return createHost(app.getHttpServer() as Server, () => app.close())
    },
  },
  {
    name: "createNextRoute on Next's own way from a request of Node and back",
    cure: /read request\.clone\(\)/,
    async start(options, parser) {
      const POST = createNextRoute(options)
      return listen(async (incoming, outgoing) => {
        const base = new NodeNextRequest(incoming)
        const request = NextRequestAdapter.fromNodeNextRequest(base, signalFromNodeResponse(outgoing))
        if (parser && request.method === 'POST') await request.json()
        await sendResponse(base, new NodeNextResponse(outgoing), (await POST(request)) as Response)
      })
    },
    excuses: {
      'a connection whose body does not come is closed soon after the answer':
        "the connection is Next's, and its server closes it when it has been idle for 5 seconds",
    },
  },
  {
    name: "createNextApi on Next's own resolver, with bodyParser: false",
    cure: /export const config = \{ api: \{ bodyParser: false \} \}/,
    async start(options, parser) {
      const route = { default: createNextApi(options), ...(parser ? {} : { config: { api: { bodyParser: false } } }) }
      return listen(async (request, response) => {
        await apiResolver(request, response, {}, route, { ...preview, dev: true }, false, true, '/webhook')
      })
    },
  },
  {
    name: 'createWorkerHandler',
    cure: /read request\.clone\(\)/,
    async start(options, parser) {
      const handle = createWorkerHandler((_: object) => options)
      return listenFetch((request) => handle(request, {}, { waitUntil: () => undefined }), parser)
    },
  },
  ...gatewaySubjects,
]
