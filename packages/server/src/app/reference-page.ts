/** `GET /reference`: the endpoints for people, with forms to try them. Everything comes from this server. @module */
import type { Hono } from 'hono'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import { openApiPath } from './openapi-route.js'
import { addPublicFile } from './public-file.js'
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

// Addresses are relative to the page, so that a proxy may put the app below any path.
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Payment Integration Service: reference</title>
<link rel="icon" type="image/png" href=".${path}/favicon-32x32.png">
<link rel="stylesheet" href=".${path}/swagger-ui.css">
<link rel="stylesheet" href=".${path}/page.css">
</head>
<body>
<noscript>This page needs JavaScript. The same content is in <a href=".${openApiPath}">openapi.json</a>.</noscript>
<div id="reference"></div>
<script src=".${path}/swagger-ui-bundle.js"></script>
<script src=".${path}/page.js"></script>
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

/** Paths that people type for the page, and the way from each to it: relative, so that it holds below any path of a proxy. */
const ways = { '/': `.${path}`, [`${path}/`]: `..${path}` }

/** Adds the page and the files that it loads, each at its one path, and redirects to the page. They need no authentication: they are the same everywhere. */
export function addReferencePage(app: Hono<AppEnv>): void {
  const headers = { 'Content-Security-Policy': contentSecurityPolicy, 'Referrer-Policy': 'no-referrer' }
  addPublicFile(app, path, () => ({ body: page, type: 'text/html; charset=utf-8', headers }))
  addPublicFile(app, `${path}/page.css`, () => ({ body: style, type: referenceFiles['swagger-ui.css'] }))
  addPublicFile(app, `${path}/page.js`, () => ({ body: script, type: referenceFiles['swagger-ui-bundle.js'] }))
  for (const [name, type] of Object.entries(referenceFiles))
    addPublicFile(app, `${path}/${name}`, async () => ({ body: await readReferenceFile(name as ReferenceFile), type }))
  for (const [from, way] of Object.entries(ways)) {
    app.get(from, () => new Response(null, { status: 308, headers: { Location: way, 'Cache-Control': 'no-cache' } }))
    allowMethods(app, from, ['GET', 'HEAD'])
  }
}
