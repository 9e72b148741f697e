/** Serves the script and the style of the pages. @module */
import type { Env, Hono } from 'hono'
import { type Assets, loadAssets } from '../assets.js'

/** The files, read or bundled once. A failure is not kept. */
export function createAssets(): () => Promise<Assets> {
  let assets: Promise<Assets> | null = null
  return () => {
    assets ??= loadAssets()
    assets.catch(() => {
      assets = null
    })
    return assets
  }
}

/** Adds both files below a path. A browser keeps a file for ever when its address names its version. */
export function addAssetRoutes<E extends Env>(app: Hono<E>, mountedAt: string, assets: () => Promise<Assets>): void {
  for (const [name, kind] of [
    ['console.js', 'script'],
    ['console.css', 'style'],
  ] as const)
    app.get(`${mountedAt}/${name}`, async (c) => {
      const { body, type, version } = (await assets())[kind]
      const isNamed = c.req.query('v') === version
      const cached = isNamed ? 'private, max-age=31536000, immutable' : 'no-cache'
      return new Response(body, { headers: { 'Content-Type': type, 'Cache-Control': cached } })
    })
}
