/**
 * A delivery as runtimes and frameworks pass it, and its limits. Source: docs/interface.md 6, delivery and headers,
 * signature rule 5; the interface sets no size limit.
 * @module
 */

/** Carries `t=<unix seconds>,v1=<64 lowercase hex characters>`. */
export const signatureHeader = 'X-Service-Signature'
/** Carries the integration address, lowercased: an unauthenticated hint that chooses the secret. */
export const integrationHeader = 'X-Service-Integration'

/** A body as it came over the wire. A string is hashed as its UTF-8. */
export type RawBody = Uint8Array | ArrayBuffer | string

/** Headers of fetch, Node (also `rawHeaders`) or Lambda, a Map, or a list of pairs. Names are case-insensitive. */
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

/** The part of a fetch `Request` that a verifier uses. */
export interface RequestLike {
  readonly headers: HeadersLike
  readonly bodyUsed: boolean
  /** A stream of bytes; `null` when there is no body, absent where the runtime does not stream requests. */
  readonly body?: { readonly locked?: boolean; getReader(): BodyReader } | null | undefined
  arrayBuffer(): Promise<ArrayBuffer>
}

/** The part of a stream's reader that a verifier uses. */
export interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(reason?: unknown): Promise<void>
}

/** The limits of a verifier. */
export interface Limits {
  /**
   * Largest accepted gap between `t` and the time of receipt, on either side, in whole seconds.
   * 0 accepts only the second of receipt.
   * @default 300
   */
  readonly toleranceSeconds?: number | undefined
  /** Largest accepted body, in bytes. @default 262144 */
  readonly maxBytes?: number | undefined
}

// 256 KiB hold about a hundred snapshots; 300 s are from docs/interface.md 6. `verifyBytes` repeats both numbers.
/** The options with defaults. @throws {RangeError} When one is not a whole number, 0 or more. */
export function resolveLimits({ toleranceSeconds = 300, maxBytes = 262_144 }: Limits): Record<keyof Limits, number> {
  assertWhole('toleranceSeconds', toleranceSeconds)
  assertWhole('maxBytes', maxBytes)
  return { toleranceSeconds, maxBytes }
}

function assertWhole(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`${name} is ${value}; pass a whole number from 0.`)
}

/** Returns a time of receipt unchanged. @throws {RangeError} When it is not a finite number of milliseconds. */
export function checkFiniteTime(milliseconds: number): number {
  if (Number.isFinite(milliseconds)) return milliseconds
  throw new RangeError(`The time of receipt is ${milliseconds}; pass milliseconds since 1970.`)
}
