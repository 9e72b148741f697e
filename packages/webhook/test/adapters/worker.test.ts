import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createWorkerHandler } from '../../src/exports/worker.js'
import { adapterConformance } from './conformance.js'
import { createHost } from './host.js'

adapterConformance({
  name: 'createWorkerHandler',
  cure: /read request\.clone\(\)/,
  async start(options, parser) {
    const env = { bindings: true }
    const worker = { fetch: createWorkerHandler((_: typeof env) => options) }
    const listener = getRequestListener(
      async (request) => {
        if (parser && request.method === 'POST') await request.json()
        return worker.fetch(request, env, { waitUntil: () => undefined })
      },
      { overrideGlobalObjects: false },
    )
    return createHost(createServer(listener))
  },
})
