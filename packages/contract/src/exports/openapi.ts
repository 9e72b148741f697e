export { type OpenApiOptions, openApiDocument } from '../openapi/document.js'
export type { OpenApiDocument } from '../openapi/parts.js'
