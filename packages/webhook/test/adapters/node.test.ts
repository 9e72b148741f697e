import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { nodeHandler } from '../../src/exports/node.js'
import { adapterConformance } from './conformance.js'
import { hostOf } from './host.js'

adapterConformance({
  name: 'nodeHandler',
  cure: /Call the handler before anything else reads the request\./,
  async start(options, parser) {
    const handle = nodeHandler(options)
    return hostOf(
      createServer(async (request, response) => {
        if (parser) Object.assign(request, { body: await json(request) })
        await handle(request, response)
      }),
    )
  },
})
