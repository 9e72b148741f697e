/** The port through which a command reaches its process. `bin.ts` passes the process; a test passes arrays. @module */
import type { Readable } from 'node:stream'

/** Input, output and environment of one run. */
export interface Io {
  /** The environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Standard input. Only a command that reads input or asks a question calls this. */
  input(): Readable
  /** Writes one line to standard output. */
  out(line: string): void
  /** Writes one line to standard error. */
  err(line: string): void
  /** Replaces the status lines, cut to the terminal's width; `[]` removes them. @default none: no terminal */
  readonly live?: ((lines: readonly string[]) => void) | undefined
  /** Calls `onKey` for each pressed key, until the returned function is called. @default none: no terminal */
  readonly keys?: ((onKey: (key: string) => void) => () => void) | undefined
  /** Whether standard error is a terminal: a person then reads the log. @default false */
  readonly logsToTerminal?: boolean | undefined
  /** Whether standard output is a terminal that shows color. */
  readonly color: boolean
  /** Aborts when the command must stop: Ctrl-C, SIGTERM, or a closed terminal. */
  readonly signal: AbortSignal
  /**
   * Registers a synchronous clean-up, in case the process ends before the command does (a second Ctrl-C).
   * Returns a function that unregisters it.
   */
  onExit(cleanUp: () => void): () => void
  /** Unix time in milliseconds. */
  now(): number
  /** Resolves after `ms` milliseconds or when `signal` aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** `length` cryptographically random bytes. */
  randomBytes(length: number): Uint8Array
  /** Name of the user who runs the command, or null when the system has none. */
  userName(): string | null
  /** Whether the process runs nothing but this command, which may then change global settings. @default false */
  readonly ownsProcess?: boolean | undefined
  /** Folder for files that exist only during the run. */
  readonly temporaryFolder: string
}

/** The exit code: 0 done, 1 failed, 2 misused. */
export type ExitCode = 0 | 1 | 2
