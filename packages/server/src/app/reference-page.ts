/** `GET /reference`: the endpoints for people, with forms to try them. Everything comes from this server. @module */
import type { Hono } from 'hono'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import { openApiPath } from './openapi-route.js'
import { addPublicFile, type LoadedFile, loadFile, type PublicFile } from './public-file.js'
import { type ReferenceFile, readReferenceFile, referenceFiles } from './reference-files.js'

const path = '/reference'

/** What the page may do: load from this server and ask it, and nothing else. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Swagger UI's style sheet holds its icons.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The files that the page loads, by their names beside it. */
const assets = ['page.css', 'page.js', 'swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const

/**
 * Addresses are relative to the page, so that a proxy may put the app below any path.
 * @param addressOf - Where each file is, with the version of its content.
 */
const pageText = (addressOf: Readonly<Record<(typeof assets)[number], string>>) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Payment Integration Service: reference</title>
<link rel="icon" type="image/png" href="${addressOf['favicon-32x32.png']}">
<link rel="stylesheet" href="${addressOf['swagger-ui.css']}">
<link rel="stylesheet" href="${addressOf['page.css']}">
</head>
<body>
<noscript>This page needs JavaScript. The same content is in <a href=".${openApiPath}">openapi.json</a>.</noscript>
<div id="reference"></div>
<script src="${addressOf['swagger-ui-bundle.js']}"></script>
<script src="${addressOf['page.js']}"></script>
</body>
</html>
`

const style = 'body { margin: 0; }\n*, ::before, ::after { box-sizing: border-box; }\n'

const script = `SwaggerUIBundle({
  url: '.${openApiPath}',
  dom_id: '#reference',
  deepLinking: true,
  displayRequestDuration: true,
  // No address of a document from the query string, and no check of it by another host.
  queryConfigEnabled: false,
  validatorUrl: null,
  // Only credentials that are typed into the page: the browser adds none of its own and asks for none after a 401.
  requestInterceptor: (request) => Object.assign(request, { credentials: 'omit' }),
})
`

/**
 * Paths that people type for the page, and the way from each to it: relative, so that it holds below any path of a
 * proxy.
 */
const ways = { '/': `.${path}`, [`${path}/`]: `..${path}` }

/**
 * Adds the page and the files that it loads, each at its one path, and redirects to the page. They need no
 * authentication: they are the same everywhere. The page names each file with the version of its content, so that a
 * browser keeps it for ever.
 */
export function addReferencePage(app: Hono<AppEnv>): void {
  const ofSwagger = Object.entries(referenceFiles).map(([name, type]) => [
    name,
    loadFile(async () => ({ body: await readReferenceFile(name as ReferenceFile), type })),
  ])
  const files: Readonly<Record<ReferenceFile | 'page.css' | 'page.js', LoadedFile>> = {
    ...Object.fromEntries(ofSwagger),
    'page.css': loadFile(() => ({ body: style, type: referenceFiles['swagger-ui.css'] })),
    'page.js': loadFile(() => ({ body: script, type: referenceFiles['swagger-ui-bundle.js'] })),
  }
  async function makePage(): Promise<PublicFile> {
    const addresses = assets.map(async (name) => [name, `.${path}/${name}?v=${await files[name].version()}`])
    const body = pageText(Object.fromEntries(await Promise.all(addresses)))
    const headers = { 'Content-Security-Policy': contentSecurityPolicy, 'Referrer-Policy': 'no-referrer' }
    return { body, type: 'text/html; charset=utf-8', headers }
  }
  addPublicFile(app, path, loadFile(makePage))
  for (const [name, file] of Object.entries(files)) addPublicFile(app, `${path}/${name}`, file)
  for (const [from, way] of Object.entries(ways)) {
    app.get(from, () => new Response(null, { status: 308, headers: { Location: way, 'Cache-Control': 'no-cache' } }))
    allowMethods(app, from, ['GET', 'HEAD'])
  }
}
