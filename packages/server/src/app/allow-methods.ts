/** Answers methods that a known path does not support. @module */
import { cacheControl } from '@payment-integration/contract'
import type { Hono } from 'hono'
import type { AppEnv } from './app-env.js'
import { jsonAnswer } from './json-answer.js'

/** Answers OPTIONS with 204 and any method outside `methods` with 405. Both list the allowed methods. Add it last. */
export function allowMethods(app: Hono<AppEnv>, path: string, methods: readonly string[]): void {
  const allow = [...methods, 'OPTIONS'].join(', ')
  app.all(path, (c) =>
    c.req.method === 'OPTIONS'
      ? new Response(null, { status: 204, headers: { Allow: allow, 'Cache-Control': cacheControl } })
      : jsonAnswer({ error: 'Method not allowed' }, 405, { Allow: allow }),
  )
}
