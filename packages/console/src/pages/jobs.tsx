/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The list of jobs, and one job with its progress and the act that stops it. @module */

import type { Job, JobRow, Jobs } from '../jobs.js'
import { ActForm } from '../view/forms.js'
import { Badge, base, Cell, Empty, Facts, hrefOf, Shown, Table, When } from '../view/parts.js'
import { grouped, shownText, spanOf } from '../view/text.js'
import { ActError } from '../web/run-form.js'
import type { Act, PageContent } from './page.js'

/** The path of a job's page, below the base. */
export const jobPath = ({ id }: Pick<Job, 'id'>) => `/jobs/${id}`

const tones = { running: 'wait', done: 'good', failed: 'bad', stopped: 'warn' } as const

/** The page at a path below `/jobs`; null: there is none. */
export function jobPage(jobs: Pick<Jobs, 'list' | 'find'>, path: string, now: number): PageContent | null {
  const section = '/jobs'
  if (path === section)
    return { title: 'Jobs', section, body: <JobsPage jobs={jobs.list()} now={now} />, live: 'topic=jobs' }
  const [, id = ''] = /^\/jobs\/([\w-]{1,40})$/.exec(path) ?? []
  const job = jobs.find(id)
  if (job === null) return null
  const live = job.state === 'running' ? `topic=job&id=${job.id}` : undefined
  return { title: job.title, section, body: <JobPage job={job} now={now} />, live }
}

function JobsPage({ jobs, now }: { jobs: readonly Job[]; now: number }) {
  const titles = ['State', 'Job', 'Progress', 'Started', 'Took', 'By']
  return (
    <>
      <h1>Jobs</h1>
      <p class="dim">
        Long acts of this process, newest first. The list is empty after a restart; the audit log keeps what was
        changed.
      </p>
      {jobs.length === 0 ? (
        <Empty title="No job was started yet.">
          <p>
            A replay of many <a href={hrefOf('/deliveries', {})}>deliveries</a>, a reindex of a{' '}
            <a href={hrefOf('/chains', {})}>chain</a> and a check of the <a href={hrefOf('/audit', {})}>audit log</a>{' '}
            are jobs.
          </p>
        </Empty>
      ) : (
        <Table label="Jobs" columns={titles.map((title) => ({ title }))}>
          {jobs.map((job) => (
            <tr>
              <Cell of="State">
                <JobBadge job={job} />
              </Cell>
              <Cell of="Job">
                <a href={`${base}${jobPath(job)}`}>
                  <Shown text={job.title} />
                </a>
              </Cell>
              <Cell of="Progress">{countOf(job)}</Cell>
              <Cell of="Started">
                <When at={job.startedAt} withDate />
              </Cell>
              <Cell of="Took">{spanOf((job.endedAt ?? now) - job.startedAt)}</Cell>
              <Cell of="By">
                <Shown text={job.actor} most={60} />
              </Cell>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}

function JobPage({ job, now }: { job: Job; now: number }) {
  const isRunning = job.state === 'running'
  return (
    <>
      <h1>
        <Shown text={job.title} /> <JobBadge job={job} />
      </h1>
      <Facts
        rows={[
          ['Started', <When at={job.startedAt} withDate />],
          ['Took', spanOf((job.endedAt ?? now) - job.startedAt)],
          ['By', <Shown text={job.actor} most={60} />],
        ]}
      />
      <section id="job" aria-label="Progress and results">
        <JobProgress job={job} />
      </section>
      {isRunning ? (
        <>
          <noscript>
            <p>
              <a href={`${base}${jobPath(job)}`}>Load this page again</a> to see the progress.
            </p>
          </noscript>
          {job.isStopping ? (
            <p class="dim">It ends after its present part.</p>
          ) : (
            <ActForm act="stop-job" label="Stop" needs="operator" tone="danger" fields={{ id: job.id }} />
          )}
        </>
      ) : null}
      {job.next === null ? null : <ActForm {...job.next} needs="operator" />}
      <p class="dim">
        <a href={hrefOf('/jobs', {})}>All jobs</a>
      </p>
    </>
  )
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
        {words === '' ? countOf(job) : <Shown text={words} most={400} />}
      </p>
      {rows.length === 0 ? null : (
        <Table label="Results" columns={[{ title: 'Result' }, { title: 'What' }]}>
          {rows.map((row) => (
            <ResultRow row={row} />
          ))}
        </Table>
      )}
      {droppedRows === 0 ? null : <p class="dim">{grouped(droppedRows)} earlier results are not shown.</p>}
    </>
  )
}

function ResultRow({ row: { word, tone = 'plain', text, remarks = [], path } }: { row: JobRow }) {
  return (
    <tr>
      <Cell of="Result">
        <Badge word={shownText(word, 40)} tone={tone} />
      </Cell>
      <Cell of="What">
        {path === undefined ? (
          <Shown text={text} most={400} />
        ) : (
          <a href={`${base}${path}`}>
            <Shown text={text} most={400} />
          </a>
        )}
        {remarks.map((remark) => (
          <span class="dim remark">
            <Shown text={remark} most={600} />
          </span>
        ))}
      </Cell>
    </tr>
  )
}

function JobBadge({ job: { state, isStopping } }: { job: Job }) {
  return <Badge word={isStopping ? 'stopping' : state} tone={tones[state]} />
}

function countOf({ done, total, state }: Job): string {
  if (total !== null) return `${grouped(done)} of ${grouped(total)}`
  return state === 'running' && done === 0 ? 'begins' : grouped(done)
}

/** Field `id`: the job. Leads to its page. */
export const stopJobAct: Act = {
  needs: 'operator',
  async run({ fields, jobs, commands }) {
    const job = jobs.find(fields['id'] ?? '')
    if (job === null) throw new ActError('There is no such job in this process. After a restart no job is left.')
    const { id, title, actor } = job
    if (job.state === 'running')
      await commands.recordAct({ action: 'job.stopped', subject: id, details: { title, startedBy: actor } })
    jobs.stop(id)
    return { to: jobPath(job) }
  },
}
