/** The app behind the real HTTP server, on a free port. */
import { silentLogger } from '@payment-integration/core'
import { type AppDeps, createApp } from '../../src/app/create-app.js'
import { listenHttp } from '../../src/run/http-server.js'
import type { ConnectionLimit } from '../../src/run/request-listener.js'
import { createRequestListener } from '../../src/run/request-listener.js'
import { chosenService } from './integration-service.js'

export async function listenApp(deps: Partial<AppDeps> = {}, connections?: ConnectionLimit) {
  const app = createApp({
    service: chosenService(),
    receiveUpdate: null,
    health: async () => ({ status: 'ok', database: 'ok', chains: [] }),
    ...deps,
  })
  const http = await listenHttp(
    { host: '127.0.0.1', port: 0 },
    await createRequestListener(app, silentLogger),
    {},
    connections,
  )
  return { url: http.url, app, stop: (cutMs = 300_000) => http.stop(AbortSignal.timeout(cutMs)) }
}
