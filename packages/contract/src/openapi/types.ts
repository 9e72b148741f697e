/** The parts of OpenAPI 3.1 that the document uses. Source: OpenAPI Specification 3.1.0 section 4.8. @module */

/** A JSON schema of dialect 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Points at an entry of `components`. */
export interface Reference {
  readonly $ref: string
}

/** A body in one media type, with examples by name. */
export interface MediaType {
  readonly schema: JsonSchema
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>
}

/** Bodies by media type. */
export type Content = Readonly<Record<string, MediaType>>

/** A header of an answer. */
export interface Header {
  readonly description: string
  readonly required?: boolean
  readonly schema: JsonSchema
}

/** An answer of one status. */
export interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, Reference>>
  readonly content?: Content
}

/** A parameter in the path, the query or a header. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description: string
  readonly schema: JsonSchema
  readonly example?: unknown
}

/** One method of a path: its request and its answers. */
export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly description: string; readonly required: true; readonly content: Content }
  readonly responses: Readonly<Record<string, Response | Reference>>
}

/** The operations of a path, by method. */
export type PathItem = Readonly<Partial<Record<'get' | 'post', Operation>>>

/** How a caller proves who it is. */
export type SecurityScheme =
  | { readonly type: 'http'; readonly scheme: 'basic' | 'bearer'; readonly description: string }
  | { readonly type: 'apiKey'; readonly in: 'header'; readonly name: string; readonly description: string }

/** The whole document. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: {
    readonly title: string
    readonly version: string
    readonly summary: string
    readonly description: string
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly webhooks: Readonly<Record<string, PathItem>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, Response>>
    readonly headers: Readonly<Record<string, Header>>
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
  }
}
