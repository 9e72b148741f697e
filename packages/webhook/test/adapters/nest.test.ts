import 'reflect-metadata'
import type { Server } from 'node:http'
import { All, Controller, Module, Req, Res, type Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { HandlerOptions } from '../../src/adapters/handler-options.js'
import type { NodeRequest, NodeResponse } from '../../src/adapters/node-source.js'
import { createNestHandler } from '../../src/exports/nest.js'
import { adapterConformance } from './conformance.js'
import { createHost } from './host.js'

const cure = /NestFactory\.create\(AppModule, \{ rawBody: true \}\)/

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

adapterConformance({
  name: 'createNestHandler in a controller, with rawBody: true',
  cure,
  start: (options, parser) => controller(options, !parser),
  excuses: {
    'rejected headers are answered before the body came': parsedFirst,
    'a declared length over the limit is 413 before the body came': parsedFirst,
    'a sender that never stops is answered with 413 and cut off': parsedFirst,
    'an upload that breaks off is a rejection and no error, and the next delivery is received': parsedFirst,
    'a body that does not come is 408 at the deadline': parsedFirst,
    'a connection whose body does not come is closed soon after the answer': parsedFirst,
  },
})

adapterConformance({
  name: 'createNestHandler by app.use()',
  cure,
  async start(options, parser) {
    if (parser) return controller(options, false)
    class AppModule {}
    Module({})(AppModule)
    const app = await NestFactory.create(AppModule, { logger: false })
    app.use('/webhook', createNestHandler(options))
    await app.listen(0, '127.0.0.1')
    return createHost(app.getHttpServer() as Server, () => app.close())
  },
})
