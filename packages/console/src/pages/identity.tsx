/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Shared identity verifications: decisions that wait, subjects and redemptions, by keyed hash. @module */
import type { RedemptionRecord, SubjectView, VerdictRecord } from '@payment-integration/core/ports'
import type { Child } from 'hono/jsx'
import type { Given } from '../filters.js'
import { closableOf, mayResolve, ownershipOf, reviewOf, verdictWords } from '../identity-words.js'
import { ActForm } from '../view/act-form.js'
import { TextField } from '../view/fields.js'
import { Filters } from '../view/form.js'
import { Badge, Cell, Empty, Hex, hrefOf, Pager, Shown, Table, When } from '../view/parts.js'
import { grouped } from '../view/text.js'
import { CloseForms, ResolveForms } from './identity-forms.js'

/** Content of the page. */
export interface IdentityView {
  readonly given: Given
  /** Subjects by id. */
  readonly subjects: readonly SubjectView[]
  /** The newest redemptions, newest first. */
  readonly redemptions: readonly RedemptionRecord[]
  /** The newest verdicts, newest first, at most `pageSize`. */
  readonly verdicts: readonly VerdictRecord[]
  /** Limits of the lists that are shown. */
  readonly pageSize: number
  /** Most subjects, and most redemptions, that were read. */
  readonly mostRead: number
  /** The next subjects; null: there are none. */
  readonly next: string | null
}

/** The page. */
export function IdentityPage({ given, subjects, redemptions, verdicts, pageSize, mostRead, next }: IdentityView) {
  const open = redemptions.filter(mayResolve)
  const stuck = subjects.filter((subject) => closableOf(subject) !== null)
  const keys = new Map(subjects.map(({ id, emailKey }) => [id, emailKey]))
  return (
    <>
      <h1>Identity</h1>
      <ActForm act="identity-search" label="Search" needs="viewer">
        <TextField name="email" label="E-mail address; it is hashed and never shown" type="email" />
      </ActForm>
      <Filters path="/identity" fields={filterFields} given={given} />
      <h2>Decisions that wait</h2>
      {open.length + stuck.length === 0 ? (
        <Empty title="None here.">
          <p>
            No outcome is unknown, no verification is on hold, and no applicant is missing, among the newest{' '}
            {grouped(mostRead)} redemptions and these {grouped(subjects.length)} subjects.
          </p>
        </Empty>
      ) : null}
      {open.length === 0 ? null : (
        <Redemptions label="Unknown outcomes" rows={open.slice(0, pageSize)} keys={keys} hasForms />
      )}
      <Part of={open.length} shown={pageSize} rows="unknown outcomes">
        The others follow when these are resolved.
      </Part>
      {stuck.length === 0 ? null : <Subjects label="On hold or missing" rows={stuck.slice(0, pageSize)} hasForms />}
      <Part of={stuck.length} shown={pageSize} rows="verifications on hold or missing">
        The others follow when these are closed, and on the next pages of subjects.
      </Part>
      <h2>Subjects</h2>
      {subjects.length === 0 ? <p class="dim">No subject matches.</p> : null}
      {subjects.length === 0 ? null : <Subjects label="Subjects" rows={subjects.slice(0, pageSize)} />}
      <Pager first={given['after'] === undefined ? null : hrefOf('/identity', { key: given['key'] })} next={next} />
      <h2>Newest redemptions</h2>
      {redemptions.length === 0 ? <p class="dim">No redemption matches.</p> : null}
      {redemptions.length === 0 ? null : (
        <Redemptions label="Newest redemptions" rows={redemptions.slice(0, pageSize)} keys={keys} />
      )}
      <Part of={redemptions.length} shown={pageSize} isCut={redemptions.length >= mostRead} rows="redemptions">
        Choose a keyed hash to see its others.
      </Part>
      <h2>Newest verdicts</h2>
      {verdicts.length === 0 ? <p class="dim">No verdict matches.</p> : <Verdicts rows={verdicts} keys={keys} />}
    </>
  )
}

/** Says that a list ended early, and how to reach the other rows. */
function Part(props: { of: number; shown: number; isCut?: boolean; rows: string; children?: Child }) {
  if (props.of <= props.shown) return null
  return (
    <p class="dim">
      {grouped(props.shown)} of {props.isCut ? 'at least ' : ''}
      {grouped(props.of)} {props.rows}. {props.children}
    </p>
  )
}

const filterFields = [{ name: 'key', label: 'Keyed hash', hint: '64 hex digits', kind: 'search' }] as const

/** The keyed hash of an address, with everything of it. */
function KeyOf({ emailKey }: { emailKey: string | null }) {
  return emailKey === null ? null : <Hex value={emailKey} href={hrefOf('/identity', { key: emailKey })} />
}

type Keys = ReadonlyMap<string, string | null>

interface Rows<Row> {
  readonly label: string
  readonly rows: readonly Row[]
  readonly hasForms?: boolean
}

function Subjects({ label, rows, hasForms = false }: Rows<SubjectView>) {
  const titles = ['Keyed hash', 'Subject', 'Account', 'Review', 'State', 'Applicant', ...(hasForms ? ['Acts'] : [])]
  return (
    <Table label={label} columns={titles.map((title) => ({ title }))}>
      {rows.map((subject) => (
        <tr>
          <Cell of="Keyed hash">
            <KeyOf emailKey={subject.emailKey} />
          </Cell>
          <Cell of="Subject">
            <Shown text={subject.id} most={40} />
          </Cell>
          <Cell of="Account">
            {ownershipOf(subject)} {subject.accountId === null ? null : <Shown text={subject.accountId} most={40} />}
          </Cell>
          <Cell of="Review">
            <Shown text={reviewOf(subject)} most={120} />
          </Cell>
          <Cell of="State">
            <SubjectState subject={subject} />
          </Cell>
          <Cell of="Applicant">
            <Shown text={subject.applicantId ?? 'none'} most={40} />
          </Cell>
          {hasForms ? (
            <Cell of="Acts">
              <CloseForms subject={subject} />
            </Cell>
          ) : null}
        </tr>
      ))}
    </Table>
  )
}

function SubjectState({ subject }: { subject: SubjectView }) {
  const what = closableOf(subject)
  if (what !== null) return <Badge word={what === 'hold' ? 'on hold' : 'missing'} tone="warn" />
  if (subject.missing?.confirmed === true) return <Badge word="deleted" tone="plain" />
  return subject.isOpen ? <Badge word="outcome open" tone="wait" /> : <span class="dim">quiet</span>
}

function Verdicts({ rows, keys }: { rows: readonly VerdictRecord[]; keys: Keys }) {
  const titles = ['Noted', 'Outcome', 'Report', 'Review', 'Subject', 'Applicant']
  return (
    <Table label="Newest verdicts" columns={titles.map((title) => ({ title }))}>
      {rows.map((verdict) => (
        <tr>
          <Cell of="Noted">
            <When at={verdict.notedAt} withDate />
          </Cell>
          <Cell of="Outcome">
            <Badge word={verdictWords[verdict.outcome]} tone={verdict.outcome === 'applied' ? 'plain' : 'warn'} />
          </Cell>
          <Cell of="Report">
            {verdict.change} by {verdict.source.replace('_', '-')}
          </Cell>
          <Cell of="Review">
            <Shown text={reviewOf(verdict)} most={120} />
          </Cell>
          <Cell of="Subject">
            <Shown text={verdict.subjectId} most={40} /> <KeyOf emailKey={keys.get(verdict.subjectId) ?? null} />
          </Cell>
          <Cell of="Applicant">
            <Shown text={verdict.applicantId} most={40} />
          </Cell>
        </tr>
      ))}
    </Table>
  )
}

/** @param keys - Keyed hashes by subject, of the subjects that were read. */
function Redemptions({ label, rows, keys, hasForms = false }: Rows<RedemptionRecord> & { keys: Keys }) {
  const titles = ['Began', 'State', 'Integration', 'Subject', 'Name', 'Applicant', ...(hasForms ? ['Acts'] : [])]
  return (
    <Table label={label} columns={titles.map((title) => ({ title }))}>
      {rows.map((redemption) => (
        <tr>
          <Cell of="Began">
            <When at={redemption.startedAt} withDate />
          </Cell>
          <Cell of="State">
            <Badge word={redemption.state} tone={mayResolve(redemption) ? 'warn' : 'plain'} />
          </Cell>
          <Cell of="Integration">
            <Hex value={redemption.integrationAddress} />
          </Cell>
          <Cell of="Subject">
            <Shown text={redemption.subjectId} most={40} /> <KeyOf emailKey={keys.get(redemption.subjectId) ?? null} />
          </Cell>
          <Cell of="Name">
            <Shown text={redemption.externalUserId} most={80} />
          </Cell>
          <Cell of="Applicant">
            <Shown text={redemption.applicantId ?? 'none'} most={40} />
          </Cell>
          {hasForms ? (
            <Cell of="Acts">
              <ResolveForms redemption={redemption} />
            </Cell>
          ) : null}
        </tr>
      ))}
    </Table>
  )
}
