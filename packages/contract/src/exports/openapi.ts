export { createOpenApiDocument, type OpenApiOptions } from '../openapi/document.js'
export type { OpenApiDocument } from '../openapi/parts.js'
