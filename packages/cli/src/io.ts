/** What a command may do to the world outside itself. `bin.ts` gives it the process; a test gives it arrays. @module */
import type { Readable } from 'node:stream'

/** The world of one run of the command. */
export interface Io {
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Standard input. Asked for only by a command that was told to read it. */
  input(): Readable
  /** Writes one line to standard output. */
  out(line: string): void
  /** Writes one line to standard error. */
  err(line: string): void
  /**
   * Keeps lines at the bottom of the terminal, in place of those before; none takes them away. Each is cut at the terminal's width.
   * Undefined where nobody watches a terminal.
   */
  readonly live?: ((lines: readonly string[]) => void) | undefined
  /** Whether a person reads the output on a terminal that shows colour. */
  readonly colour: boolean
  /** Aborts when the caller asks the command to end (Ctrl-C, SIGTERM, a closed terminal). */
  readonly signal: AbortSignal
  /**
   * Keeps a synchronous clean-up for the case that the process ends before the command does (a second Ctrl-C).
   * Returns a function that drops it again.
   */
  onExit(cleanUp: () => void): () => void
  /** Unix time in milliseconds. */
  now(): number
  /** Resolves after `ms` milliseconds, or as soon as `signal` aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** `length` cryptographically random bytes. */
  randomBytes(length: number): Uint8Array
  /** Name of the user who runs the command, or null where the system knows none. */
  userName(): string | null
  /** True when the process runs this command and nothing else, so that what is global is the command's own. @default false */
  readonly ownsProcess?: boolean | undefined
  /** Folder for files that live as long as the run. */
  readonly temporaryFolder: string
}

/** How a command ended: 0 done, 1 failed, 2 misused. */
export type ExitCode = 0 | 1 | 2
