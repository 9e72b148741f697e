/** A delivery as runtimes and frameworks pass it. Source: docs/interface.md 6, delivery and headers. @module */

/** Carries `t=<unix seconds>,v1=<64 lowercase hex characters>`. */
export const signatureHeader = 'X-Service-Signature'
/** Carries the integration address, lowercased: an unauthenticated hint that chooses the secret. */
export const integrationHeader = 'X-Service-Integration'

/** A body as it came over the wire. A string is hashed as its UTF-8. */
export type RawBody = Uint8Array | ArrayBuffer | string

/** Headers of fetch, Node (also `rawHeaders`) or Lambda, a Map, or a list of pairs. Names compare without case. */
export type HeadersLike =
  | Iterable<readonly [string, string | readonly string[] | undefined]>
  | { readonly [name: string]: string | readonly string[] | undefined }
  | Iterable<string>
  | { get(name: string): string | null | undefined }

/** A request as frameworks on Node have it. An Express request whose body is raw fits as it is. */
export interface Delivery {
  /** The body exactly as it arrived. */
  readonly body: RawBody
  readonly headers: HeadersLike
  /**
   * Time of receipt of a queued delivery: milliseconds since the epoch.
   * @default the verifier's clock
   */
  readonly receivedAt?: number | undefined
}

/** The used part of a fetch `Request`. */
export interface RequestLike {
  readonly headers: HeadersLike
  readonly bodyUsed: boolean
  /** A stream of bytes; `null` when there is no body, absent where the runtime does not stream requests. */
  readonly body?: { readonly locked?: boolean; getReader(): BodyReader } | null | undefined
  arrayBuffer(): Promise<ArrayBuffer>
}

/** The used part of a stream's reader. */
export interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(reason?: unknown): Promise<void>
}
