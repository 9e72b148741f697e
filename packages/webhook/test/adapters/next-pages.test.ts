import { createServer } from 'node:http'
import { apiResolver } from 'next/dist/server/api-utils/node/api-resolver.js'
import { createNextApi } from '../../src/exports/next.js'
import { adapterConformance } from './conformance.js'
import { createHost } from './host.js'

const preview = { previewModeId: 'id', previewModeEncryptionKey: 'key', previewModeSigningKey: 'key' }

/** Next's own resolver of API routes, on a server of Node. */
adapterConformance({
  name: 'createNextApi with bodyParser: false',
  cure: /export const config = \{ api: \{ bodyParser: false \} \}/,
  async start(options, parser) {
    const route = { default: createNextApi(options), ...(parser ? {} : { config: { api: { bodyParser: false } } }) }
    return createHost(
      createServer(async (request, response) => {
        await apiResolver(request, response, {}, route, { ...preview, dev: true }, false, true, '/webhook')
      }),
    )
  },
})
