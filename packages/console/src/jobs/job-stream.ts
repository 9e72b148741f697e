/** The stream of a page that shows jobs: its changing part, then a reload when a job starts or ends. @module */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Given } from '../filters.js'
import { openEventStream, type Send } from '../live/event-stream.js'
import type { Job } from './job-types.js'
import type { Jobs } from './jobs.js'

/** Changes within this time are sent together, in milliseconds. */
const togetherMs = 250

/** Whether the topic of a stream is of jobs: `job`, with an id, or `jobs`. */
export const isJobTopic = ({ topic }: Given): boolean => topic === 'job' || topic === 'jobs'

/** Renders the part of a job's page that changes while the job runs. */
export type RenderProgress = (job: Job) => string

/** Opens the stream. @param id - The job of the page; undefined: the list of all jobs. */
export function openJobStream(jobs: Jobs, id: string | undefined, render: RenderProgress, onClose: () => void) {
  return openEventStream((send) => {
    const publish = publisher(send, render, id)
    const unfollow = jobs.follow((job) => void (id === undefined || job.id === id ? publish(job) : undefined))
    // The job may have changed since the page was read.
    const job = id === undefined ? null : jobs.find(id)
    if (job !== null) void publish(job)
    return unfollow
  }, onClose)
}

function publisher(send: Send, render: RenderProgress, id: string | undefined) {
  let newest: Job | null = null
  return async (job: Job): Promise<void> => {
    const isWaiting = newest !== null
    newest = job
    if (isWaiting) return
    await sleep(togetherMs, undefined, { ref: false })
    const { state, isStopping } = newest
    const isWhole = id === undefined || state !== 'running' || isStopping
    send(isWhole ? 'event: stale\ndata: {}\n\n' : `event: parts\ndata: ${JSON.stringify({ job: render(newest) })}\n\n`)
    newest = null
  }
}
