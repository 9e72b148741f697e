/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Shared identity verifications, by keyed hash: decisions that wait with their acts, subjects, redemptions. @module */

import {
  type CloseRequest,
  type CloseResult,
  type Identity,
  type ResolveResult,
  ShareRequestError,
} from '@payment-integration/core/identity'
import type { RedemptionRecord, SubjectView, VerdictRecord } from '@payment-integration/core/ports'
import type { Child } from 'hono/jsx'
import { FilterError, type Given } from '../filters.js'
import { ActForm, ConfirmField, Filters, TextField } from '../view/forms.js'
import { Badge, Cell, Empty, Hex, hrefOf, Pager, Shown, Table, When } from '../view/parts.js'
import { grouped } from '../view/text.js'
import { ErrorPage } from './audit.js'
import { type Act, type ActAnswer, type ActInput, confirmedField, requiredField } from './page.js'

/** Content of the page. */
interface IdentityView {
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

/** An operator looks at the provider first, then says what is there. */
function ResolveForms({ redemption: { externalUserId } }: { redemption: RedemptionRecord }) {
  return (
    <div class="acts">
      <ActForm
        act="identity-resolve"
        label="It created this applicant"
        needs="operator"
        fields={{ externalUserId, finding: 'applicant' }}
      >
        <TextField name="applicant" label="Applicant id at the provider" />
      </ActForm>
      <ActForm
        act="identity-resolve"
        label="It created none"
        needs="operator"
        fields={{ externalUserId, finding: 'none' }}
        tone="danger"
      >
        <ConfirmField label="The provider has no applicant of this name" />
      </ActForm>
    </div>
  )
}

/** Checking asks the provider and changes nothing. */
function CloseForms({ subject }: { subject: SubjectView }) {
  const what = closableOf(subject)
  if (what === null) return null
  const fields = { subject: subject.id, what }
  return (
    <div class="acts">
      <ActForm act="identity-close" label="Check" needs="operator" fields={{ ...fields, dryRun: 'yes' }} />
      <ActForm
        act="identity-close"
        label={what === 'hold' ? 'End the hold' : 'It was deleted'}
        needs="operator"
        fields={fields}
        tone="danger"
      >
        <ConfirmField label="I looked at the provider" />
      </ActForm>
    </div>
  )
}

/** Whether an operator may resolve a redemption: its outcome is unknown, and no lease runs. */
function mayResolve({ state, isLeased }: RedemptionRecord): boolean {
  return state === 'unresolved' || ((state === 'unknown' || state === 'in_flight') && !isLeased)
}

/** The state of a verification that an operator may close; null: none. */
function closableOf({ presence, missing }: SubjectView): CloseRequest['what'] | null {
  if (missing?.confirmed === false) return 'missing'
  return presence?.isActive === false && missing === null ? 'hold' : null
}

/** Whether a report about an applicant counted. */
const verdictWords: Readonly<Record<VerdictRecord['outcome'], string>> = {
  applied: 'applied',
  older: 'older than the stored one',
  doubtful: 'doubtful',
  surplus: 'of a surplus applicant',
  other_level: 'of another level',
}

/** A review in the provider's words. */
function reviewOf({ review }: Pick<SubjectView, 'review'>): string {
  if (review === null) return 'none'
  const { reviewStatus, reviewAnswer, rejectType, rejectLabels } = review
  return [reviewStatus, reviewAnswer, rejectType, ...rejectLabels].filter((each) => each !== null).join(' ')
}

/** The relation of the account to the address. */
function ownershipOf({ emailKey, accountId, proved, closed }: SubjectView): string {
  if (emailKey === null) return 'no address'
  if (closed) return 'given up'
  if (accountId === null) return 'placeholder'
  return proved ? 'proved' : 'carried'
}

/** Why a redemption was not resolved. */
const unresolvedWords: Readonly<Record<Exclude<ResolveResult, 'attached' | 'surplus' | 'absent'>, string>> = {
  not_open: 'No redemption of that name has an unknown outcome without a lease.',
  unknown_applicant: 'The provider knows no such applicant.',
  of_another_subject: 'That applicant belongs to another subject.',
  of_another_redemption: 'That applicant is attached to this subject by another redemption.',
}

/** Why a verification is not closed, or would not be. */
const unclosedWords: Readonly<Record<Exclude<CloseResult, 'closed'>, string>> = {
  nothing_to_close: 'The verification is neither on hold nor missing.',
  known: 'The provider knows the applicant. The next poll that finds it by its id ends the wait.',
  name_taken: 'Another applicant has its name at the provider. The log names that applicant; look at it there.',
  missing: 'The provider does not know the applicant. Close the wait for it first.',
  unknown: 'The provider does not know the applicant.',
  other_review: "The provider's review differs from the stored one. It is polled at once; try again later.",
  unproven:
    'The provider knows no other applicant of that time, or no redemption is stored. Check its tenant and environment.',
  changed: 'The verification changed meanwhile; try again.',
}

const section = '/identity'
const isOff = () => new FilterError('No identity provider is configured.')

/** The acts, by their names in the address. */
export const identityActs: Readonly<Record<string, Act>> = {
  'identity-search': { needs: 'viewer', run: search },
  'identity-resolve': { needs: 'operator', run: resolve },
  'identity-close': { needs: 'operator', run: close },
}

/** Leads to the keyed hash of an address. It is a posted form, so the address is in no URL and in no log. */
async function search({ fields, service, commands }: ActInput): Promise<ActAnswer> {
  if (service.identity === null) throw isOff()
  const emailKey = await keyOf(service.identity, requiredField(fields, 'email'))
  await commands.recordAct({ action: 'identity.searched', subject: 'all', details: { emailKey } })
  return { to: `${section}?key=${emailKey}`, note: 'email-found' }
}

async function keyOf(identity: Pick<Identity, 'emailKey'>, email: string): Promise<string> {
  try {
    return await identity.emailKey(email)
  } catch (error) {
    // No message quotes what may be an address.
    if (error instanceof ShareRequestError) throw new FilterError('The given text is no e-mail address.')
    throw error
  }
}

/** Without an applicant, the operator's finding is that the redemption created none. */
async function resolve({ fields, commands }: ActInput): Promise<ActAnswer> {
  if (commands.identity === null) throw isOff()
  const finding = requiredField(fields, 'finding')
  if (finding === 'none') confirmedField(fields)
  const applicantId = finding === 'none' ? null : requiredField(fields, 'applicant')
  const externalUserId = requiredField(fields, 'externalUserId')
  const result = await commands.identity.resolveRedemption({ externalUserId, applicantId })
  if (result === 'attached' || result === 'absent' || result === 'surplus')
    return { to: section, note: `redemption-${result}` }
  return nothingDone(unresolvedWords[result])
}

/** With the field `dryRun` it only asks the provider. */
async function close({ fields, commands }: ActInput): Promise<ActAnswer> {
  if (commands.identity === null) throw isOff()
  const what = requiredField(fields, 'what') === 'missing' ? 'missing' : 'hold'
  const dryRun = fields['dryRun'] === 'yes'
  if (!dryRun) confirmedField(fields)
  const result = await commands.identity.closeVerification({
    subjectId: requiredField(fields, 'subject'),
    what,
    dryRun,
  })
  if (result !== 'closed') return nothingDone(unclosedWords[result])
  if (!dryRun) return { to: section, note: `${what}-closed` }
  const title = 'It can be closed'
  const text = 'The provider confirms it. Nothing was changed yet.'
  return { show: { title, section, body: <ErrorPage title={title} text={text} /> } }
}

function nothingDone(text: string): ActAnswer {
  const title = 'Nothing was changed'
  return { show: { title, section, body: <ErrorPage title={title} text={text} /> }, status: 409 }
}
