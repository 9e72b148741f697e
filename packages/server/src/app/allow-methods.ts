/** What a known path answers to a method that it does not have. @module */
import { cacheControl } from '@payment-integration/contract'
import type { Hono } from 'hono'
import type { AppEnv } from './app-env.js'
import { jsonAnswer } from './json-answer.js'

/** Answers OPTIONS with 204 and every other method than `methods` with 405; both name what is allowed. Add it last. */
export function allowMethods(app: Hono<AppEnv>, path: string, methods: readonly string[]): void {
  const allow = [...methods, 'OPTIONS'].join(', ')
  app.all(path, (c) =>
    c.req.method === 'OPTIONS'
      ? new Response(null, { status: 204, headers: { Allow: allow, 'Cache-Control': cacheControl } })
      : jsonAnswer({ error: 'Method not allowed' }, 405, { Allow: allow }),
  )
}
