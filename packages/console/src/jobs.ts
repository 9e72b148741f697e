/** Runs long acts in this process, and keeps their results for a while. @module */
import { randomBytes } from 'node:crypto'
import type { Clock } from '@payment-integration/core/ports'
import type { ActFormProps } from './view/forms.js'
import { ActError, findShownMessage } from './web/run-form.js'

/** One result of a job. Its texts may be hostile. */
export interface JobRow {
  /** One word, such as `missing` or `fail`. */
  readonly word: string
  readonly tone?: 'good' | 'bad' | 'warn' | 'wait' | 'plain' | undefined
  readonly text: string
  readonly remarks?: readonly string[] | undefined
  readonly path?: string | undefined
}

export interface Job {
  readonly id: string
  readonly title: string
  /** The actor who started the job, such as `operator:alice`. */
  readonly actor: string
  /** `stopped`: a person or the shutdown ended the job early. */
  readonly state: 'running' | 'done' | 'failed' | 'stopped'
  readonly isStopping: boolean
  readonly startedAt: number
  readonly endedAt: number | null
  /** The finished work, in the unit of `total`. */
  readonly done: number
  /** The amount of work; null: unknown. */
  readonly total: number | null
  /** A sentence about the progress or the result; empty: none yet. */
  readonly words: string
  /** Results, oldest first; beyond a limit the oldest are dropped. */
  readonly rows: readonly JobRow[]
  readonly droppedRows: number
  /** The act that the page offers after the job, such as the repair after a dry run; null: none. */
  readonly next: Pick<ActFormProps, 'act' | 'label' | 'fields'> | null
}

export interface JobReport {
  /** Updates the shown progress; absent fields stay unchanged. */
  (progress: Partial<Pick<Job, 'done' | 'total' | 'words' | 'next'>>): void
  /** Adds a result after the others. */
  addRow(row: JobRow): void
  /** Adds results before the others. */
  addFirstRows(rows: readonly JobRow[]): void
}

export interface NewJob {
  readonly title: string
  readonly actor: string
  readonly total?: number | null | undefined
  /** Does the work. It ends early when the signal aborts, and its changes up to then stay. */
  run(report: JobReport, signal: AbortSignal): Promise<void>
}

export const jobLimits = { running: 4, kept: 50, rows: 500 } as const

/** The jobs of this process, kept in memory only: they end with a restart, and no other process sees them. */
export type Jobs = ReturnType<typeof createJobs>

interface Entry {
  job: Job
  readonly stop: AbortController
}

/** Creates the jobs. @param deps.onError - Called with errors whose message is not shown to people. */
export function createJobs({ clock, onError }: { clock: Pick<Clock, 'now'>; onError: (error: unknown) => void }) {
  const entries = new Map<string, Entry>()
  const listeners = new Set<(job: Job) => void>()
  const processName = randomBytes(6).toString('base64url')
  let changes = 0
  let isClosed = false

  function change(entry: Entry, changed: Partial<Job>): void {
    entry.job = { ...entry.job, ...changed }
    changes += 1
    for (const listener of listeners) listener(entry.job)
  }

  function createReport(entry: Entry): JobReport {
    const report = (progress: Partial<Job>) => change(entry, progress)
    return Object.assign(report, {
      addRow(row: JobRow) {
        const { rows, droppedRows } = entry.job
        const isFull = rows.length >= jobLimits.rows
        change(entry, { rows: [...(isFull ? rows.slice(1) : rows), row], droppedRows: droppedRows + (isFull ? 1 : 0) })
      },
      addFirstRows: (rows: readonly JobRow[]) => change(entry, { rows: [...rows, ...entry.job.rows] }),
    })
  }

  async function run(entry: Entry, work: NewJob['run']): Promise<void> {
    const { signal } = entry.stop
    const end = (changed: Partial<Job>) => change(entry, { ...changed, endedAt: clock.now(), isStopping: false })
    try {
      await work(createReport(entry), signal)
      end({ state: signal.aborted ? 'stopped' : 'done' })
    } catch (error) {
      if (signal.aborted) return end({ state: 'stopped' })
      const message = findShownMessage(error)
      if (message === null) onError(error)
      end({ state: 'failed', words: message ?? 'The job failed. See the log of the service for the reason.' })
    }
  }

  function forgetOldest(): void {
    const ended = [...entries.values()].filter(({ job }) => job.state !== 'running')
    for (const { job } of ended.slice(0, Math.max(0, entries.size - jobLimits.kept))) entries.delete(job.id)
  }

  return {
    /** Starts a job. @throws ActError When too many jobs run, or after `close`. */
    start({ title, actor, total = null, run: work }: NewJob): Job {
      const running = [...entries.values()].filter(({ job }) => job.state === 'running')
      if (isClosed) throw new ActError('The service is shutting down. Try again after it restarts.')
      if (running.length >= jobLimits.running)
        throw new ActError(`${jobLimits.running} jobs are running. Wait for one, or stop one.`)
      const id = randomBytes(9).toString('base64url')
      const begun = { state: 'running', isStopping: false, startedAt: clock.now(), endedAt: null } as const
      const nothingDone = { done: 0, words: '', rows: [], droppedRows: 0, next: null }
      const job: Job = { id, title, actor, total, ...begun, ...nothingDone }
      const entry = { job, stop: new AbortController() }
      entries.set(id, entry)
      changes += 1
      forgetOldest()
      void run(entry, work)
      return entry.job
    },
    list: (): readonly Job[] => [...entries.values()].map(({ job }) => job).reverse(),
    find: (id: string): Job | null => entries.get(id)?.job ?? null,
    /** `<name of this process>.<number of changes>`: a page with the current position shows every change. */
    position: () => `${processName}.${changes}`,
    stop(id: string): Job | null {
      const entry = entries.get(id)
      if (entry === undefined) return null
      if (entry.job.state === 'running') {
        change(entry, { isStopping: true })
        entry.stop.abort()
      }
      return entry.job
    },
    follow(listener: (job: Job) => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close() {
      isClosed = true
      for (const { stop } of entries.values()) stop.abort()
    },
  }
}
