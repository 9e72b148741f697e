/** Pointers into the components of the document. @module */
import { jsonContentType } from '../headers.js'
import type { Content, MediaType, Reference } from './types.js'

/** Points at a schema. */
export function schemaRef(name: string): Reference & { readonly [keyword: string]: unknown } {
  return { $ref: `#/components/schemas/${name}` }
}

/** Points at a response. */
export function responseRef(name: string): Reference {
  return { $ref: `#/components/responses/${name}` }
}

/** Points at a header. */
export function headerRef(name: string): Reference {
  return { $ref: `#/components/headers/${name}` }
}

/** A JSON body of the named schema, or of one of several. */
export function json(schema: string | readonly string[], examples: NonNullable<MediaType['examples']>): Content {
  const described = typeof schema === 'string' ? schemaRef(schema) : { anyOf: schema.map(schemaRef) }
  return { [jsonContentType]: { schema: described, examples } }
}
