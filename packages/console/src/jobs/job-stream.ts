/** The stream of a page that shows jobs: its changing part, then a reload when a job starts or ends. @module */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Given } from '../filters.js'
import { openEventStream, type Send, type StreamEnd } from '../live/event-stream.js'
import type { Job } from './job-types.js'
import type { Jobs } from './jobs.js'

/** Changes within this time are sent together, in milliseconds. */
const togetherMs = 250

/** Whether the topic of a stream is of jobs: `job`, with an id, or `jobs`. */
export const isJobTopic = ({ topic }: Given): boolean => topic === 'job' || topic === 'jobs'

/** Renders the part of a job's page that changes while the job runs. */
export type RenderProgress = (job: Job) => string

/** What a page shows. */
export interface ShownJobs {
  /** The job of the page; undefined: the list of all jobs. */
  readonly id: string | undefined
  /** The position of the jobs that it shows; null: unknown. */
  readonly after: string | null
}

/** Opens the stream. */
export function openJobStream(jobs: Jobs, { id, after }: ShownJobs, render: RenderProgress, end: StreamEnd) {
  return openEventStream((send) => {
    const publish = publisher(send, render, { jobs, isList: id === undefined })
    const unfollow = jobs.follow((job) => void (id === undefined || job.id === id ? publish(job) : undefined))
    // Jobs may have changed since the page was read.
    const job = id === undefined ? jobs.list()[0] : jobs.find(id)
    if (job && after !== jobs.position()) void publish(job)
    return unfollow
  }, end)
}

function publisher(send: Send, render: RenderProgress, { jobs, isList }: { jobs: Jobs; isList: boolean }) {
  let newest: Job | null = null
  return async (job: Job): Promise<void> => {
    const isWaiting = newest !== null
    newest = job
    if (isWaiting) return
    await sleep(togetherMs, undefined, { ref: false })
    const { state, isStopping } = newest
    const isWhole = isList || state !== 'running' || isStopping
    const [name, data] = isWhole ? ['stale', {}] : ['parts', { job: render(newest) }]
    send(`event: ${name}\nid: ${jobs.position()}\ndata: ${JSON.stringify(data)}\n\n`)
    newest = null
  }
}
