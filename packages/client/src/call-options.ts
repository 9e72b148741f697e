/** Options of every call of every client. @module */
export interface CallOptions {
  /** Aborts the call, which rejects with {@link AbortedError} `ERR_ABORTED`. */
  readonly signal?: AbortSignal | undefined
}
