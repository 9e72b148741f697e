/** The app behind the real HTTP server, on a free port. */
import { silentLogger } from '@payment-integration/core'
import { onTestFinished } from 'vitest'
import { type AppDeps, createApp } from '../../src/app/create-app.js'
import { listenHttp, type ServerLimits } from '../../src/run/http-server.js'
import { type ConnectionLimit, createRequestListener } from '../../src/run/request-listener.js'
import { chosenService } from './integration-service.js'

interface ListenOptions {
  readonly connections?: ConnectionLimit
  readonly limits?: Partial<ServerLimits>
}

export async function listenApp(deps: Partial<AppDeps> = {}, { connections, limits = {} }: ListenOptions = {}) {
  const app = createApp({
    service: chosenService(),
    receiveUpdate: null,
    health: async () => ({ status: 'ok', database: 'ok', chains: [] }),
    ...deps,
  })
  const listener = await createRequestListener(app, silentLogger)
  const http = await listenHttp({ host: '127.0.0.1', port: 0 }, listener, limits, connections)
  return { url: http.url, app, stop: (cutMs = 3_600_000) => http.stop(AbortSignal.timeout(cutMs)) }
}

/** Listens like `listenApp`, and stops at the end of the test. */
export async function listenTempApp(...args: Parameters<typeof listenApp>) {
  const listening = await listenApp(...args)
  onTestFinished(() => listening.stop())
  return listening
}
