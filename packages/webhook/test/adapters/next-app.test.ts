import { createServer } from 'node:http'
import { NodeNextRequest, NodeNextResponse } from 'next/dist/server/base-http/node.js'
import { sendResponse } from 'next/dist/server/send-response.js'
import {
  NextRequestAdapter,
  signalFromNodeResponse,
} from 'next/dist/server/web/spec-extension/adapters/next-request.js'
import { createNextRoute } from '../../src/exports/next.js'
import { adapterConformance } from './conformance.js'
import { createHost } from './host.js'

/** Next's own way from a request of Node to a NextRequest, and from the Response back. */
adapterConformance({
  name: 'createNextRoute',
  cure: /read request\.clone\(\)/,
  async start(options, parser) {
    const POST = createNextRoute(options)
    return createHost(
      createServer(async (incoming, outgoing) => {
        const base = new NodeNextRequest(incoming)
        const request = NextRequestAdapter.fromNodeNextRequest(base, signalFromNodeResponse(outgoing))
        if (parser && request.method === 'POST') await request.json()
        await sendResponse(base, new NodeNextResponse(outgoing), (await POST(request)) as Response)
      }),
    )
  },
  excuses: {
    'a connection whose body does not come is closed soon after the answer':
      "the connection is Next's, and its server closes it when it has been idle for 5 seconds",
  },
})
