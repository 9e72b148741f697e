export { type OpenApiOptions, openApiDocument } from '../openapi/document.js'
export type * from '../openapi/types.js'
