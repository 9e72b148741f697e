import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { createNodeHandler } from '../../src/exports/node.js'
import { adapterConformance } from './conformance.js'
import { createHost } from './host.js'

adapterConformance({
  name: 'createNodeHandler',
  cure: /Call the handler before anything else reads the request\./,
  async start(options, parser) {
    const handle = createNodeHandler(options)
    return createHost(
      createServer(async (request, response) => {
        if (parser) Object.assign(request, { body: await json(request) })
        await handle(request, response)
      }),
    )
  },
})
