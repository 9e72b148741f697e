/** Time, randomness and ids as arguments, so that a run is repeatable. @module */

/** The clock. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number
  /** Resolves after `ms` milliseconds, or as soon as `signal` aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Randomness. Secrets need a cryptographic source; jitter does not. */
export interface Random {
  /** `length` cryptographically random bytes. */
  bytes(length: number): Uint8Array
  /** A number in [0, 1). */
  fraction(): number
}

/** Ids. A store takes its claim tokens from here. */
export interface Ids {
  /** A new id, unique in this deployment and not guessable. */
  next(): string
}

/** Logs events for operators. Fields never contain secrets, bodies or signatures. */
export interface Logger {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}
