/** What every call of every client takes. @module */
export interface CallOptions {
  /** Ends the call with {@link AbortedError} `ERR_ABORTED`. */
  readonly signal?: AbortSignal | undefined
}
