/** The adapters of the webhook package pass the doctor, each in its framework. @module */
import 'reflect-metadata'
import { createServer, type RequestListener, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { bodyParser } from '@koa/bodyparser'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
import { createVerifier } from '@payment-integration/webhook'
import { createExpressHandler } from '@payment-integration/webhook/express'
import { fastifyReceiver } from '@payment-integration/webhook/fastify'
import { createHonoHandler } from '@payment-integration/webhook/hono'
import { createKoaHandler } from '@payment-integration/webhook/koa'
import { createLambdaHandler } from '@payment-integration/webhook/lambda'
import { createNestHandler } from '@payment-integration/webhook/nest'
import { createNextApi, createNextRoute } from '@payment-integration/webhook/next'
import { createNodeHandler } from '@payment-integration/webhook/node'
import { createWorkerHandler } from '@payment-integration/webhook/worker'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { apiResolver } from 'next/dist/server/api-utils/node/api-resolver.js'
import { expect, onTestFinished, test } from 'vitest'
import { createHost } from '../../../webhook/test/adapters/host.js'
import type { DoctorFetch } from '../../src/doctor/send.js'
import { type DoctorOptions, doctorProbeNames, runDoctor } from '../../src/exports/doctor.js'

const signingSecret = 'whsec_of_the_adapters'
const integrationAddress = `0x${'ab'.repeat(20)}`
const { verify } = createVerifier({ secrets: signingSecret })

/** The options of a handler, with its number of effects. */
function counted() {
  let handled = 0
  const { receive } = createReceiver({
    verify,
    store: createMemoryVersionStore(),
    handle: () => void handled++,
  })
  // The doctor sends broken uploads, which some adapters report.
  return { options: { receive, onError: () => undefined }, effects: async () => handled }
}

type Handler = ReturnType<typeof counted>['options']

/** Starts an adapter. Returns the URL of the receiver, or a function that calls it. */
type Start = (options: Handler) => Promise<string | DoctorFetch>

async function served(server: Server, close?: () => unknown): Promise<string> {
  const host = await createHost(server, close)
  onTestFinished(() => host.close())
  return `http://127.0.0.1:${host.port}/webhook`
}
const listening = (listener: RequestListener) => served(createServer(listener))
const fetching = (handle: (request: Request) => unknown) =>
  listening(getRequestListener((request) => handle(request) as Promise<Response>, { overrideGlobalObjects: false }))
const preview = { previewModeId: 'id', previewModeEncryptionKey: 'key', previewModeSigningKey: 'key' }

const adapters: Record<string, Start> = {
  node: (options) => listening(createNodeHandler(options)),
  express(options) {
    const app = express()
    app.all('/webhook', createExpressHandler(options))
    app.use(express.json())
    return listening(app)
  },
  async fastify(options) {
    const app = fastify()
    await app.register(fastifyReceiver, { url: '/webhook', ...options })
    await app.listen({ host: '127.0.0.1', port: 0 })
    return served(app.server, () => app.close())
  },
  hono(options) {
    const app = new Hono()
    app.all('/webhook', createHonoHandler(options))
    return listening(getRequestListener(app.fetch, { overrideGlobalObjects: false }))
  },
  koa(options) {
    const app = new Koa()
    app.silent = true
    const deliveries = createKoaHandler(options)
    app.use((ctx, next) => (ctx.path === '/webhook' ? deliveries(ctx) : next()))
    app.use(bodyParser())
    return listening(app.callback())
  },
  async nest(options) {
    class AppModule {}
    Module({})(AppModule)
    const app = await NestFactory.create(AppModule, { logger: false })
    app.use('/webhook', createNestHandler(options))
    await app.listen(0, '127.0.0.1')
    return served(app.getHttpServer() as Server, () => app.close())
  },
  'next, app router': (options) => fetching(createNextRoute(options)),
  'next, pages router'(options) {
    const route = { default: createNextApi(options), config: { api: { bodyParser: false } } }
    return listening(async (request, response) => {
      await apiResolver(request, response, {}, route, { ...preview, dev: true }, false, true, '/webhook')
    })
  },
  worker(options) {
    const handle = createWorkerHandler((_: object) => options)
    return fetching((request) => handle(request, {}, { waitUntil: () => undefined }))
  },
  async lambda(options) {
    const handle = createLambdaHandler(options)
    return async (_, { headers, body }) => {
      const event = {
        requestContext: { http: { method: 'POST' } },
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
        body: Buffer.from(body).toString('base64'),
        isBase64Encoded: true,
      }
      const { statusCode } = await handle(event)
      return new Response(null, { status: statusCode })
    }
  },
}

test.each(Object.entries(adapters))('%s passes every probe that its transport has', async (_, start) => {
  const { options, effects } = counted()
  const target = await start(options)
  const way: Pick<DoctorOptions, 'url' | 'fetch'> =
    typeof target === 'string' ? { url: target } : { url: 'https://function.example', fetch: target }
  // No verdict depends on the speed of this machine.
  const report = await runDoctor({ ...way, signingSecret, integrationAddress, effects, timeoutMs: 120_000 })
  expect(report.findings).toEqual([])
  expect(report.passed).toBe(doctorProbeNames.length - (typeof target === 'string' ? 0 : 4))
})
