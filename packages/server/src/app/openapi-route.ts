/** `GET /openapi.json`: the OpenAPI document. @module */
import { jsonContentType } from '@payment-integration/contract'
import { openApiDocument } from '@payment-integration/contract/openapi'
import type { Hono } from 'hono'
import { version } from '../version.js'
import type { AppEnv } from './app-env.js'
import { addPublicFile, loadFile } from './public-file.js'

/** Path of the document. */
export const openApiPath = '/openapi.json'

/** Adds the document. It needs no authentication: it holds no data of any integration. */
export function addOpenApiRoute(app: Hono<AppEnv>): void {
  const make = () => ({ body: JSON.stringify(openApiDocument({ version })), type: jsonContentType })
  addPublicFile(app, openApiPath, loadFile(make))
}
