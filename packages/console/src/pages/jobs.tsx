/** The list of jobs, and the page of one job with progress and stop button. @module */
import type { Job, JobRow, NewJob } from '../jobs.js'
import { ActForm } from '../view/forms.js'
import { Badge, buildHref, Empty, Facts, Shown, Table, When } from '../view/parts.js'
import { formatNumber, formatSpan, showText } from '../view/text.js'
import { ActError } from '../web/run-form.js'
import { type ActInput, actsFor, type Load } from './page.js'

const section = '/jobs'

export const jobPath = ({ id }: Pick<Job, 'id'>) => `${section}/${id}`

/** Starts a job in the name of the viewer, and redirects to its page. */
export function startJob({ jobs, visit }: Pick<ActInput, 'jobs' | 'visit'>, job: Omit<NewJob, 'actor'>) {
  return { to: jobPath(jobs.start({ ...job, actor: visit.actor })) }
}

const tones = { running: 'wait', done: 'good', failed: 'bad', stopped: 'warn' } as const

export const jobsPage: Load = async ({ jobs, clock }) => {
  const at = clock.now()
  const body = (
    <>
      <h1>Jobs</h1>
      <p class="dim">
        Long tasks of this process, newest first. A restart clears the list; the audit log keeps every change.
      </p>
      <Table
        label="Jobs"
        rows={jobs.list()}
        columns={[
          ['State', JobBadge],
          [
            'Job',
            (job) => (
              <a href={buildHref(jobPath(job))}>
                <Shown text={job.title} />
              </a>
            ),
          ],
          ['Progress', formatProgress],
          ['Started', ({ startedAt }) => <When at={startedAt} withDate />],
          ['Took', (job) => showTime(job, at)],
          ['By', ({ actor }) => <Shown text={actor} max={60} />],
        ]}
        empty={
          <Empty title="No job yet.">
            <p>
              Long tasks run as jobs, with progress and a stop button. Start one: replay many{' '}
              <a href={buildHref('/deliveries', { status: 'exhausted' })}>exhausted deliveries</a>, read blocks of a{' '}
              <a href={buildHref('/chains')}>chain</a> again, or check the <a href={buildHref('/audit')}>audit log</a>.
            </p>
          </Empty>
        }
      />
    </>
  )
  return { title: 'Jobs', section, body, live: 'topic=jobs' }
}

export const jobPage: Load = async ({ jobs, clock }, _, name) => {
  const job = jobs.find(name)
  if (job === null) return null
  const isRunning = job.state === 'running'
  const body = (
    <>
      <h1>
        <Shown text={job.title} /> {JobBadge(job)}
      </h1>
      <Facts
        rows={[
          ['Started', <When at={job.startedAt} withDate />],
          ['Took', showTime(job, clock.now())],
          ['By', <Shown text={job.actor} max={60} />],
        ]}
      />
      <section id="job" aria-label="Progress and results">
        <JobProgress job={job} />
      </section>
      {isRunning ? (
        <>
          <noscript>
            <p>
              <a href={buildHref(jobPath(job))}>Load this page again</a> to see the progress.
            </p>
          </noscript>
          {job.isStopping ? (
            <p class="dim">The job stops after its current part.</p>
          ) : (
            <ActForm act="stop-job" label="Stop" needs="operator" tone="danger" fields={{ id: job.id }} />
          )}
        </>
      ) : null}
      {job.next === null ? null : <ActForm {...job.next} needs="operator" />}
      <p class="dim">
        <a href={buildHref(section)}>All jobs</a>
      </p>
    </>
  )
  return { title: job.title, section, body, live: isRunning ? `topic=job&id=${job.id}` : undefined }
}

/** The part of a job's page that changes while it runs. */
export function JobProgress({ job }: { job: Job }) {
  const { state, total, done, words, rows, droppedRows } = job
  return (
    <>
      {state === 'running' ? (
        <progress
          aria-label={`Progress of: ${job.title}`}
          max={total ?? undefined}
          value={total === null ? undefined : Math.min(done, total)}
        />
      ) : null}
      <p class={state === 'failed' ? 'note bad' : ''} role={state === 'failed' ? 'alert' : undefined}>
        {words === '' ? formatProgress(job) : <Shown text={words} max={400} />}
      </p>
      <Table
        label="Results"
        rows={rows}
        columns={[
          ['Result', ({ word, tone = 'plain' }) => <Badge word={showText(word, 40)} tone={tone} />],
          ['Detail', describeResult],
        ]}
        empty={null}
      />
      {droppedRows === 0 ? null : <p class="dim">{formatNumber(droppedRows)} earlier results are not shown.</p>}
    </>
  )
}

function describeResult({ text, remarks = [], path }: JobRow) {
  const content = <Shown text={text} max={400} />
  return (
    <>
      {path === undefined ? content : <a href={buildHref(path)}>{content}</a>}
      {remarks.map((remark) => (
        <span class="dim remark">
          <Shown text={remark} max={600} />
        </span>
      ))}
    </>
  )
}

const JobBadge = ({ state, isStopping }: Job) => <Badge word={isStopping ? 'stopping' : state} tone={tones[state]} />
const showTime = ({ startedAt, endedAt }: Job, now: number) => formatSpan((endedAt ?? now) - startedAt)

function formatProgress({ done, total, state }: Job): string {
  if (total !== null) return `${formatNumber(done)} of ${formatNumber(total)}`
  return state === 'running' && done === 0 ? 'begins' : formatNumber(done)
}

export const jobActs = actsFor('operator', {
  async 'stop-job'({ fields, jobs, commands }) {
    const job = jobs.find(fields['id'] ?? '')
    if (job === null) throw new ActError('There is no such job in this process. After a restart no job is left.')
    const { id, title, actor } = job
    if (job.state === 'running')
      await commands.recordAction({ action: 'job.stopped', subject: id, details: { title, startedBy: actor } })
    jobs.stop(id)
    return { to: jobPath(job) }
  },
})
