/** Lets requests through to pages, or rejects them. @module */
import type { Env, Hono } from 'hono'
import { accessRequestOf, type ConsoleBindings, localProblem, publicProblem } from './access.js'
import { secured } from './security-headers.js'

/**
 * Adds the security headers to every answer, and rejects requests of other hosts and origins with 403.
 * @param publicUrl - The origin of the pages; undefined: they answer this machine alone.
 */
export function guardPages<E extends Env & { Bindings: ConsoleBindings }>(app: Hono<E>, publicUrl: string | undefined) {
  app.use('*', async (c, next) => {
    await next()
    c.res = secured(c.res)
  })
  app.use('*', async (c, next) => {
    const access = accessRequestOf(c.req.raw, c.env)
    const problem = publicUrl === undefined ? localProblem(access) : publicProblem(access, publicUrl)
    return problem === null ? next() : new Response(`${problem}\n`, { status: 403 })
  })
}
