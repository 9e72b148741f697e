/** `GET /openapi.json`: what the service can be asked, for tools. @module */
import { jsonContentType } from '@payment-integration/contract'
import { openApiDocument } from '@payment-integration/contract/openapi'
import type { Hono } from 'hono'
import { version } from '../version.js'
import type { AppEnv } from './app-env.js'
import { addPublicFile, loadFile } from './public-file.js'

/** Where the document is, beside the root of the app. */
export const openApiPath = '/openapi.json'

/** Adds the document. It needs no authentication: it says nothing about any integration. */
export function addOpenApiRoute(app: Hono<AppEnv>): void {
  const make = () => ({ body: JSON.stringify(openApiDocument({ version })), type: jsonContentType })
  addPublicFile(app, openApiPath, loadFile(make))
}
