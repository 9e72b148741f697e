/** Jobs: their progress, their ends and their bounds. */
import { ChainError, StoreError } from '@payment-integration/core'
import { expect, it } from 'vitest'
import type { NewJob } from './jobs.js'
import { createJobs, jobLimits } from './jobs.js'
import { openJobStream } from './live/streams.js'

function setup() {
  const errors: unknown[] = []
  let time = 1_000
  const jobs = createJobs({ clock: { now: () => time++ }, onError: (error) => errors.push(error) })
  const ended = (id: string) =>
    new Promise<void>((resolve) => {
      const unfollow = jobs.follow((job) => {
        if (job.id !== id || job.endedAt === null) return
        unfollow()
        resolve()
      })
    })
  async function run(work: NewJob['run']) {
    const { id } = jobs.start({ title: 'Work', actor: 'operator:olga', run: work })
    await ended(id)
    return jobs.find(id)
  }
  return { jobs, errors, ended, run }
}

/** Work that ends when its signal aborts. */
const endless: NewJob['run'] = (_report, signal) =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()))

it('a job reports progress and results, and ends as done with its time', async () => {
  const { run } = setup()
  const job = await run(async (report) => {
    report({ done: 1, total: 2, words: 'One of two.' })
    report.addRow({ word: 'found', text: 'a row' })
    await Promise.resolve()
    report({ done: 2, words: 'Both.' })
  })
  expect(job).toMatchObject({ state: 'done', done: 2, total: 2, words: 'Both.', startedAt: 1_000, endedAt: 1_001 })
  expect(job?.rows).toEqual([{ word: 'found', text: 'a row' }])
})

it('a failure says why where the reason is for people; any other reason is for the log alone', async () => {
  const { run, errors } = setup()
  const chainError = new ChainError('ERR_CHAIN_UNAVAILABLE', 1, 'No node answers.')
  expect(await run(() => Promise.reject(chainError))).toMatchObject({ state: 'failed', words: 'No node answers.' })
  const secret = new StoreError('ERR_STORE_UNAVAILABLE', 'postgres://CANARY is away')
  const job = await run(() => Promise.reject(secret))
  expect(job).toMatchObject({ state: 'failed', words: 'The job failed. See the log of the service for the reason.' })
  expect(errors).toEqual([secret])
})

it('a stopped job is asked to end, and is stopped once it ended, also if it rejects', async () => {
  const { jobs, ended, errors } = setup()
  const rejecting: NewJob['run'] = (_report, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  for (const run of [endless, rejecting]) {
    const { id } = jobs.start({ title: 'Work', actor: 'a', run })
    const end = ended(id)
    expect(jobs.stop(id)).toMatchObject({ state: 'running', isStopping: true })
    await end
    expect(jobs.find(id)).toMatchObject({ state: 'stopped', isStopping: false })
  }
  expect(errors).toEqual([])
  expect(jobs.stop('unknown')).toBeNull()
})

it('the fifth job at once is rejected, and a place is free when one ends', async () => {
  const { jobs, ended } = setup()
  const start = () => jobs.start({ title: 'Work', actor: 'a', run: endless })
  const started = Array.from({ length: jobLimits.running }, start)
  expect(start).toThrow('4 jobs are running. Wait for one, or stop one.')
  const [first] = started
  const end = ended(first?.id ?? '')
  jobs.stop(first?.id ?? '')
  await end
  expect(start().state).toBe('running')
})

it('the newest 50 jobs and the newest 500 results of each are kept', async () => {
  const { jobs, run } = setup()
  const job = await run(async (report) => {
    for (let n = 1; n <= jobLimits.rows + 3; n += 1) report.addRow({ word: 'row', text: String(n) })
  })
  expect([job?.rows.length, job?.rows[0]?.text, job?.droppedRows]).toEqual([500, '4', 3])
  for (let n = 0; n < jobLimits.kept; n += 1) await run(async () => undefined)
  expect([jobs.list().length, jobs.find(job?.id ?? '')]).toEqual([50, null])
})

it('close asks all jobs to end, and starts no further ones', async () => {
  const { jobs, ended } = setup()
  const { id } = jobs.start({ title: 'Work', actor: 'a', run: endless })
  const end = ended(id)
  jobs.close()
  await end
  expect(jobs.find(id)?.state).toBe('stopped')
  expect(() => jobs.start({ title: 'Work', actor: 'a', run: endless })).toThrow('The service is shutting down.')
})

it('a page that comes back learns of a change meanwhile, and of none otherwise', async () => {
  const { jobs, run } = setup()
  const before = jobs.position()
  await run(() => Promise.resolve())
  const getFirst = async (after: string) => {
    const { stream } = openJobStream(jobs, { id: undefined, after }, { lifeMs: 1_000_000, onClose: () => {} })
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader()
    await reader.read()
    return (await reader.read()).value
  }
  expect(await getFirst(before)).toBe(`event: stale\nid: ${jobs.position()}\ndata: {}\n\n`)
  const later = getFirst(jobs.position())
  await run(() => Promise.resolve())
  expect(await later).toBe(`event: stale\nid: ${jobs.position()}\ndata: {}\n\n`)
})
