/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The audit log, and the act that checks it. @module */
import type { AuditRecord } from '@payment-integration/core/ports'
import { ActForm } from '../view/forms.js'
import { base, Cell, Empty, hrefOf, Pager, Shown, Table, When } from '../view/parts.js'
import { grouped } from '../view/text.js'
import { jobPath } from './jobs.js'
import type { Act, Setting } from './page.js'

/** The audit log, newest first. */
export function AuditPage(props: { records: readonly AuditRecord[]; isFirst: boolean; next: string | null }) {
  const titles = ['No.', 'Time', 'Actor', 'Action', 'Subject', 'Details']
  return (
    <>
      <h1>Audit log</h1>
      {props.records.length === 0 ? (
        <Empty title="Nothing was changed yet.">
          <p>
            Each change of secrets, URLs, deliveries and verifications leaves a record here, chained by a keyed hash.
          </p>
        </Empty>
      ) : (
        <Table label="Audit log" columns={titles.map((title, index) => ({ title, isNumber: index === 0 }))}>
          {props.records.map((record) => (
            <tr>
              <Cell of="No." isNumber>
                {record.seq}
              </Cell>
              <Cell of="Time">
                <When at={record.at} withDate />
              </Cell>
              <Cell of="Actor">
                <Shown text={String(record.actor)} most={60} />
              </Cell>
              <Cell of="Action">
                <Shown text={record.action} most={60} />
              </Cell>
              <Cell of="Subject">
                <Shown text={String(record.subject)} most={80} />
              </Cell>
              <Cell of="Details">
                <Shown text={detailsOf(record)} />
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      <Pager first={props.isFirst ? null : hrefOf('/audit', {})} next={props.next} />
      <p class="dim">
        Check the whole chain here, or with <code>payment-integration audit verify</code>.
      </p>
      <ActForm act="verify-audit" label="Check all records" needs="operator" />
    </>
  )
}

/** An altered record may hold any text. */
function detailsOf({ details }: AuditRecord): string {
  if (typeof details !== 'object' || details === null) return String(details)
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')
}

/** The configuration variables in their groups. */
export function SettingsPage({ settings }: { settings: readonly Setting[] }) {
  const sections = [...new Set(settings.map(({ section }) => section))]
  return (
    <>
      <h1>Settings</h1>
      {settings.length === 0 ? (
        <Empty title="The host passed no settings.">
          <p>Pass the settings of readConfig as the option settings of createConsole.</p>
        </Empty>
      ) : (
        <p class="dim">
          As this process started. Secrets are counted, URLs are cut to their host, and defaults are dimmed.
        </p>
      )}
      {sections.map((section) => (
        <>
          <h2>{section}</h2>
          <dl class="facts wide settings">
            {settings
              .filter((each) => each.section === section)
              .map(({ name, value, isDefault, doc }) => (
                <div>
                  <dt>{name}</dt>
                  <dd>
                    <span class={isDefault ? 'dim' : 'given'}>
                      <Shown text={value} most={400} />
                    </span>
                    <small>{doc}</small>
                  </dd>
                </div>
              ))}
          </dl>
        </>
      ))}
    </>
  )
}

/** A request that leads to no page. */
export function ErrorPage({ title, text, home = base }: { title: string; text: string; home?: string }) {
  return (
    <>
      <h1>{title}</h1>
      <p>
        <Shown text={text} most={400} />
      </p>
      <p>
        <a href={home}>Back to the overview</a>
      </p>
    </>
  )
}

/** Leads to the job. */
export const verifyAuditAct: Act = {
  needs: 'operator',
  async run({ service: { audit }, jobs, visit }) {
    const head = await audit.head()
    const job = jobs.start({
      title: 'Check of the audit log',
      actor: visit.actor,
      total: head?.seq ?? 0,
      async run(report, signal) {
        const onProgress = (done: number) => report({ done, words: `${grouped(done)} records are intact so far.` })
        const { records, last, brokenAt } = await audit.verify({ onProgress, signal })
        if (brokenAt !== null) {
          report.row({
            word: 'broken',
            tone: 'bad',
            text: `Record ${brokenAt} is missing, altered, or keyed with a master key that is not configured.`,
            path: `/audit?before=${brokenAt + 1}`,
          })
          report({ done: records, words: `The ${grouped(records)} records before number ${brokenAt} are intact.` })
        } else if (last === null) report({ words: 'The audit log is empty.' })
        else {
          report({ done: records, words: `All ${grouped(records)} records are intact.` })
          report.row({
            word: 'newest',
            text: `${last.seq}:${last.hash}`,
            remarks: [
              'Store it outside the database: payment-integration audit verify --expect then finds removed newest records.',
            ],
          })
        }
      },
    })
    return { to: jobPath(job) }
  },
}
