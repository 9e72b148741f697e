/** `GET /reference`: a page that documents the endpoints, with forms to try them. @module */
import type { Hono } from 'hono'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import { openApiPath } from './openapi-route.js'
import { addPublicFile, type LoadedFile, loadFile, type PublicFile } from './public-file.js'
import { type ReferenceFile, readReferenceFile, referenceFiles } from './reference-files.js'

const path = '/reference'

/** The page may load from this server and send requests to it, and nothing else. */
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

/** The files that the page loads, by name. */
const assets = ['page.css', 'page.js', 'swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const

/**
 * URLs are relative to the page, so that a proxy may mount the app below any path.
 * @param addressOf - URL of each file, with the version of its content.
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
  // Takes no document URL from the query string, and no validation by another host.
  queryConfigEnabled: false,
  validatorUrl: null,
  // Sends only credentials typed into the page: the browser adds none and shows no prompt after a 401.
  requestInterceptor: (request) => Object.assign(request, { credentials: 'omit' }),
})
`

/** Paths that people type, each with a relative redirect to the page, which works below any path of a proxy. */
const redirects = { '/': `.${path}`, [`${path}/`]: `..${path}` }

/**
 * Adds the page, the files that it loads and the redirects to it. They need no authentication: they hold no data. The
 * page names each file with the version of its content, so that a browser caches it for ever.
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
  for (const [from, target] of Object.entries(redirects)) {
    app.get(from, () => new Response(null, { status: 308, headers: { Location: target, 'Cache-Control': 'no-cache' } }))
    allowMethods(app, from, ['GET', 'HEAD'])
  }
}
