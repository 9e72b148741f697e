/** The used part of Node's request and response, and of frameworks' own built on them. @module */

/** A request: `IncomingMessage` of `node:http` or `node:http2`. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  readonly readableDidRead?: boolean
  readonly readableEnded?: boolean
  readonly destroyed?: boolean
  /** Set by a parser of the framework. */
  readonly body?: unknown
  /** The bytes, where a parser kept them. */
  readonly rawBody?: unknown
  on(event: string, listener: (value?: unknown) => void): unknown
  resume(): unknown
  destroy(): unknown
}

/** A response: `ServerResponse` of `node:http` or `node:http2`. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
}

/** A listener for requests. It never rejects. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>
