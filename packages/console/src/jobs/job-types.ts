/** A long act with its progress. @module */

/** How a job stands. `stopped`: a person or the shutdown ended it. */
export type JobState = 'running' | 'done' | 'failed' | 'stopped'

/** One result of a job. Texts may be hostile. */
export interface JobRow {
  /** One word, such as `missing` or `fail`. */
  readonly word: string
  readonly tone?: 'good' | 'bad' | 'warn' | 'wait' | 'plain' | undefined
  readonly text: string
  /** Remarks below the text, such as a cure. */
  readonly remarks?: readonly string[] | undefined
  /** Path of a page about it, below the base. */
  readonly path?: string | undefined
}

/** An act that a finished job offers. */
export interface NextAct {
  readonly act: string
  readonly label: string
  readonly fields: Readonly<Record<string, string | number | undefined>>
}

/** A job as pages show it. */
export interface Job {
  readonly id: string
  readonly title: string
  /** Who started it, such as `operator:alice`. */
  readonly actor: string
  readonly state: JobState
  /** Whether it runs, and was asked to end. */
  readonly isStopping: boolean
  readonly startedAt: number
  /** Null while it runs. */
  readonly endedAt: number | null
  readonly done: number
  /** Null: nobody knows how much there is. */
  readonly total: number | null
  /** What is done so far, or the result, in a sentence. */
  readonly words: string
  /** Results, oldest first; the oldest ones are dropped when there are many. */
  readonly rows: readonly JobRow[]
  /** Number of dropped rows. */
  readonly droppedRows: number
  /** Offered when it is done. */
  readonly next: NextAct | null
}

/** How the work of a job reports. */
export interface JobReport {
  /** Changes what is shown; absent fields stay. */
  (progress: Partial<Pick<Job, 'done' | 'total' | 'words' | 'next'>>): void
  /** Adds a result. */
  row(row: JobRow): void
  /** Puts results before those that are there. */
  first(rows: readonly JobRow[]): void
}

/** A job to start. */
export interface NewJob {
  readonly title: string
  readonly actor: string
  readonly total?: number | null | undefined
  /** The work. It ends early when the signal aborts; what it did until then stays. */
  run(report: JobReport, signal: AbortSignal): Promise<void>
}
