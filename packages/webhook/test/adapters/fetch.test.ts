import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { expect, onTestFinished, test } from 'vitest'
import { createFetchHandler } from '../../src/exports/fetch.js'
import { createVerifier } from '../../src/exports/index.js'
import { adapterConformance } from './conformance.js'
import { delivery, secret } from './fixture.js'
import { createHost } from './host.js'

adapterConformance({
  name: 'createFetchHandler',
  cure: /read request\.clone\(\)/,
  async start(options, parser) {
    const handle = createFetchHandler(options)
    const listener = getRequestListener(
      async (request) => {
        if (parser && request.method === 'POST') await request.json()
        return handle(request)
      },
      { overrideGlobalObjects: false },
    )
    return createHost(createServer(listener))
  },
})

test('a middleware that reads a clone leaves the delivery whole', async () => {
  const { verify } = createVerifier({ secrets: secret })
  const read: unknown[] = []
  const handle = createFetchHandler({ receive: verify })
  const listen = async (request: Request) => {
    read.push(await request.clone().json())
    return handle(request)
  }
  const host = await createHost(createServer(getRequestListener(listen, { overrideGlobalObjects: false })))
  onTestFinished(() => host.close())
  const sent = await delivery()
  expect([(await host.send(sent)).status, read]).toEqual([204, [JSON.parse(Buffer.from(sent.body).toString())]])
})
