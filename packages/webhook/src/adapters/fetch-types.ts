/** The used part of a fetch `Request`, and the type of its handlers. @module */
import type { BodyReader } from '../delivery.js'
import type { WebResponse } from './globals.js'

/** A request of the fetch standard: of a browser's kind, of Node, Bun, Deno, Workers, Next or Hono. */
export interface FetchRequest {
  readonly method: string
  readonly headers: { get(name: string): string | null }
  readonly bodyUsed: boolean
  readonly body?: { readonly locked: boolean; getReader(): BodyReader } | null
  arrayBuffer(): Promise<ArrayBuffer>
}

/** Answers a request. It never rejects. */
export type FetchHandler = (request: FetchRequest) => Promise<WebResponse>
