/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The audit log, settings, and errors. @module */
import type { AuditRecord } from '@payment-integration/core/ports'
import type { Child } from 'hono/jsx'
import { ActForm } from '../view/act-form.js'
import { base, Cell, Empty, hrefOf, Pager, Shown, Table, When } from '../view/parts.js'

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

/** The configuration with its secrets masked. */
export function SettingsPage({ config }: { config: object | null }) {
  return (
    <>
      <h1>Settings</h1>
      {config === null ? (
        <Empty title="The host passed no settings.">
          <p>Pass a description without secrets as the option config of createConsole.</p>
        </Empty>
      ) : (
        <>
          <p class="dim">As this process started. Secrets are counted, and URLs are cut to their host.</p>
          <Settings value={config} />
        </>
      )}
    </>
  )
}

function Settings({ value }: { value: object }) {
  return (
    <dl class="facts wide">
      {Object.entries(value).map(([name, each]) => (
        <div>
          <dt>{name}</dt>
          <dd>{settingOf(each)}</dd>
        </div>
      ))}
    </dl>
  )
}

function settingOf(value: unknown): Child {
  if (value === null || value === undefined) return 'none'
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object'))
    return value.length === 0 ? 'none' : value.join(', ')
  if (Array.isArray(value)) return value.map((each: object) => <Settings value={each} />)
  return typeof value === 'object' ? <Settings value={value} /> : <Shown text={String(value)} />
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
