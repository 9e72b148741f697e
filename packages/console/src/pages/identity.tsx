/** Shared identity verifications: pending decisions with their acts, subjects, redemptions. @module */
import { InvalidShareRequestError } from '@payment-integration/core/identity'
import type { CloseRequest, CloseResult, RedemptionRecord, ResolveResult } from '@payment-integration/core/internal'
import { isResolvable, type SubjectView, type VerdictRecord } from '@payment-integration/core/internal'
import type { Child } from 'hono/jsx'
import { FilterError } from '../filters.js'
import { ActForm, Filters, TextField } from '../view/forms.js'
import type { Column } from '../view/parts.js'
import { Badge, buildHref, Copyable, Dim, Empty, Hex, Pager, Shown, sentencePage, Table, When } from '../view/parts.js'
import { formatNumber } from '../view/text.js'
import type { ActAnswer, ActInput, Acts, Load } from './page.js'
import { actsFor, checkConfirmed, cutPage, pageSize, requiredField } from './page.js'

const section = '/identity'
const backLink = { section, home: buildHref(section), back: 'identity page' }
const filterFields = [{ name: 'key', label: 'Keyed hash', hint: '64 hex digits', type: 'search' }] as const

/** The most subjects, and the most redemptions, that are searched for pending decisions. */
const maxRead = 1_000

export const identityPage: Load = async ({ service: { identity } }, query) => {
  if (identity === null) return null
  const { key, after } = query
  if (key !== undefined && !/^[0-9a-f]{64}$/i.test(key)) throw new FilterError('key is not 64 hex digits.')
  const emailKey = key?.toLowerCase()
  const [subjects, redemptions, verdicts] = await Promise.all([
    identity.subjects({ emailKey, afterId: after, limit: maxRead }),
    identity.redemptions({ emailKey, limit: maxRead }),
    identity.verdicts({ emailKey, limit: pageSize }),
  ])
  const resolvable = redemptions.filter(isResolvable)
  const stuck = subjects.filter((subject) => findClosable(subject) !== null)
  const subjectColumn = createSubjectColumn(new Map(subjects.map(({ id, emailKey }) => [id, emailKey])))
  const redemptionColumns = createRedemptionColumns(subjectColumn)
  const { rows, next } = cutPage(subjects, ({ id }) => buildHref(section, { key, after: id }))
  const body = (
    <>
      <h1>Identity</h1>
      <p class="dim">A person who was verified elsewhere shares that verification with one of your accounts.</p>
      <ActForm act="identity-search" label="Find the address" needs="viewer">
        <TextField name="email" label="E-mail address (hashed, never shown)" type="email" />
      </ActForm>
      <Filters action={buildHref(section)} fields={filterFields} values={query} />
      <h2>Needs a decision</h2>
      {resolvable.length + stuck.length === 0 ? (
        <Empty title="Nothing needs a decision.">
          <p>
            Redemptions with an unknown outcome, verifications on hold and missing applicants appear here.
            {subjects.length === 0
              ? null
              : ` The newest ${formatNumber(maxRead)} redemptions and ${formatNumber(subjects.length)} subjects were examined.`}
          </p>
        </Empty>
      ) : (
        <p class="dim">The service cannot decide these alone. Look at the provider first, then decide here.</p>
      )}
      <Table
        label="Unknown outcomes"
        rows={resolvable.slice(0, pageSize)}
        columns={[...redemptionColumns, ['Actions', resolveForms]]}
        empty={null}
      />
      <PartialCount of={resolvable.length} rows="unknown outcomes">
        Resolve these to see the others.
      </PartialCount>
      <Table
        label="On hold or missing"
        rows={stuck.slice(0, pageSize)}
        columns={[...subjectColumns, ['Actions', closeForms]]}
        empty={null}
      />
      <PartialCount of={stuck.length} rows="verifications on hold or missing">
        Close these, or open the next page of subjects, to see the others.
      </PartialCount>
      <h2>Subjects</h2>
      <Table
        label="Subjects"
        rows={rows}
        columns={subjectColumns}
        empty={
          <Empty title="Nobody has shared a verification yet.">
            <p>An integration posts share tokens to /api/v1/integration/idv-share-token. In development, share one:</p>
            <Copyable label="A command that shares a verification" text="payment-integration trigger kyc green" />
          </Empty>
        }
      />
      <Pager first={after === undefined ? null : buildHref(section, { key })} next={next} />
      <h2>Newest redemptions</h2>
      <Table
        label="Newest redemptions"
        rows={redemptions.slice(0, pageSize)}
        columns={redemptionColumns}
        empty={<p class="dim">No share token was redeemed yet.</p>}
      />
      <PartialCount of={redemptions.length} isCut={redemptions.length >= maxRead} rows="redemptions">
        Choose a keyed hash to see all of its redemptions.
      </PartialCount>
      <h2>Newest verdicts</h2>
      <Table
        label="Newest verdicts"
        rows={verdicts}
        columns={[
          ['Noted', ({ notedAt }) => <When at={notedAt} withDate />],
          [
            'Outcome',
            ({ outcome }) => <Badge word={verdictWords[outcome]} tone={outcome === 'applied' ? 'plain' : 'warn'} />,
          ],
          ['Report', ({ change, source }) => `${change} by ${source.replace('_', '-')}`],
          ['Review', describeReview],
          subjectColumn,
          ['Applicant', ({ applicantId }) => <Shown text={applicantId} max={40} />],
        ]}
        empty={<p class="dim">The provider has reported no review yet.</p>}
      />
    </>
  )
  return { title: 'Identity', section, body }
}

/** Says how many of the rows are shown; nothing when all of them are. */
function PartialCount(props: { of: number; isCut?: boolean; rows: string; children?: Child }) {
  if (props.of <= pageSize) return null
  return (
    <p class="dim">
      {formatNumber(pageSize)} of {props.isCut ? 'at least ' : ''}
      {formatNumber(props.of)} {props.rows}. {props.children}
    </p>
  )
}

const showKey = (key: string | null) => (key === null ? null : <Hex value={key} href={buildHref(section, { key })} />)

const subjectColumns: readonly Column<SubjectView>[] = [
  ['Keyed hash', ({ emailKey }) => showKey(emailKey)],
  ['Subject', ({ id }) => <Shown text={id} max={40} />],
  [
    'Account',
    (subject) => (
      <>
        {describeOwnership(subject)} {subject.accountId === null ? null : <Shown text={subject.accountId} max={40} />}
      </>
    ),
  ],
  ['Review', describeReview],
  ['State', showState],
  ['Applicant', showApplicant],
]

function describeOwnership({ emailKey, accountId, proved, closed }: SubjectView): string {
  if (emailKey === null) return 'no address'
  if (closed) return 'given up'
  if (accountId === null) return 'placeholder'
  return proved ? 'proved' : 'carried'
}

function describeReview({ review }: Pick<SubjectView, 'review'>) {
  const words = review && [review.reviewStatus, review.reviewAnswer, review.rejectType, ...review.rejectLabels]
  return <Shown text={words?.filter((each) => each !== null).join(' ') ?? 'none'} max={120} />
}

function showState(subject: SubjectView) {
  const kind = findClosable(subject)
  if (kind !== null) return <Badge word={kind === 'hold' ? 'on hold' : 'missing'} tone="warn" />
  if (subject.missing?.confirmed === true) return <Badge word="deleted" tone="plain" />
  return subject.isOpen ? <Badge word="outcome open" tone="wait" /> : <Dim>nothing open</Dim>
}

function showApplicant({ applicantId }: { readonly applicantId: string | null }) {
  return <Shown text={applicantId ?? 'none'} max={40} />
}

/** The column that names the subject. @param keys - The keyed hash of each subject that was read. */
function createSubjectColumn(keys: ReadonlyMap<string, string | null>): Column<{ readonly subjectId: string }> {
  return [
    'Subject',
    ({ subjectId }) => (
      <>
        <Shown text={subjectId} max={40} /> {showKey(keys.get(subjectId) ?? null)}
      </>
    ),
  ]
}

const createRedemptionColumns = (
  subject: Column<{ readonly subjectId: string }>,
): readonly Column<RedemptionRecord>[] => [
  ['Began', ({ startedAt }) => <When at={startedAt} withDate />],
  ['State', (one) => <Badge word={one.state} tone={isResolvable(one) ? 'warn' : 'plain'} />],
  ['Integration', ({ integrationAddress }) => <Hex value={integrationAddress} />],
  subject,
  ['Name at the provider', ({ externalUserId }) => <Shown text={externalUserId} max={80} />],
  ['Applicant', showApplicant],
]

/** The state of a verification that an operator may close; null: none. */
function findClosable({ presence, missing }: SubjectView): CloseRequest['kind'] | null {
  if (missing?.confirmed === false) return 'missing'
  return presence?.isActive === false && missing === null ? 'hold' : null
}

/** The forms that resolve a redemption, after the operator has looked for its applicant at the provider. */
function resolveForms({ externalUserId }: RedemptionRecord) {
  const act = { act: 'identity-resolve', needs: 'operator' } as const
  return (
    <div class="acts">
      <ActForm {...act} label="Attach this applicant" fields={{ externalUserId, finding: 'applicant' }}>
        <TextField name="applicant" label="Applicant id at the provider" />
      </ActForm>
      <ActForm
        {...act}
        label="Resolve without one"
        fields={{ externalUserId, finding: 'none' }}
        confirm="The provider has no applicant of this name"
      />
    </div>
  )
}

/** The forms that close a verification. The check only queries the provider, and changes nothing. */
function closeForms(subject: SubjectView) {
  const kind = findClosable(subject)
  if (kind === null) return null
  const act = { act: 'identity-close', needs: 'operator' } as const
  const fields = { subject: subject.id, what: kind }
  return (
    <div class="acts">
      <ActForm {...act} label="Ask the provider" fields={{ ...fields, dryRun: 'yes' }} />
      <ActForm
        {...act}
        label={kind === 'hold' ? 'End the hold' : 'Close as deleted'}
        fields={fields}
        confirm="I looked at the provider"
      />
    </div>
  )
}

const verdictWords: Readonly<Record<VerdictRecord['outcome'], string>> = {
  applied: 'applied',
  older: 'older than the stored one',
  doubtful: 'doubtful',
  surplus: 'of a surplus applicant',
  other_level: 'of another level',
}

const unresolvedWords: Readonly<Record<Exclude<ResolveResult, 'attached' | 'surplus' | 'absent'>, string>> = {
  not_open: 'No redemption of that name has an unknown outcome without a lease.',
  unknown_applicant: 'The provider knows no such applicant.',
  of_another_subject: 'That applicant belongs to another subject.',
  of_another_redemption: 'That applicant is attached to this subject by another redemption.',
}

const unclosedWords: Readonly<Record<Exclude<CloseResult, 'closed'>, string>> = {
  nothing_to_close: 'The verification is neither on hold nor missing.',
  known: 'The provider knows the applicant. The next poll that finds it by its id clears this state.',
  name_taken: 'The provider has another applicant with this name. Its id is in the log: look at it at the provider.',
  missing: 'The applicant is also missing at the provider. Close it as deleted first.',
  unknown: 'The provider does not know the applicant.',
  other_review: "The provider's review differs from the stored one. It is polled at once; try again later.",
  unproven:
    'The provider knows no other applicant of that time, or no redemption is stored. Check its tenant and environment.',
  changed: 'The verification changed meanwhile; try again.',
}

const noProviderError = () => new FilterError('No identity provider is configured.')

export const identityActs: Acts = {
  ...actsFor('viewer', { 'identity-search': search }),
  ...actsFor('operator', { 'identity-resolve': resolve, 'identity-close': close }),
}

/** Finds entries by e-mail address. The form is posted, so that the address is in no URL and no log. */
async function search({ fields, service, commands }: ActInput): Promise<ActAnswer> {
  if (service.identity === null) throw noProviderError()
  const emailKey = await service.identity.emailKey(requiredField(fields, 'email')).catch((error: unknown) => {
    // The message does not quote the input, which may be an address.
    throw error instanceof InvalidShareRequestError ? new FilterError('This is not a valid e-mail address.') : error
  })
  await commands.recordAction({ action: 'identity.searched', subject: 'all', details: { emailKey } })
  return { to: `${section}?key=${emailKey}`, note: 'email-found' }
}

/** Resolves a redemption by the operator's finding: the applicant that the redemption created, or none. */
async function resolve({ fields, commands }: ActInput): Promise<ActAnswer> {
  if (commands.identity === null) throw noProviderError()
  const finding = requiredField(fields, 'finding')
  if (finding === 'none') checkConfirmed(fields)
  const applicantId = finding === 'none' ? null : requiredField(fields, 'applicant')
  const externalUserId = requiredField(fields, 'externalUserId')
  const result = await commands.identity.resolveRedemption({ externalUserId, applicantId })
  if (result === 'attached' || result === 'absent' || result === 'surplus')
    return { to: section, note: `redemption-${result}` }
  return nothingDone(unresolvedWords[result])
}

/** Closes a verification. With the field `dryRun` it only queries the provider. */
async function close({ fields, commands }: ActInput): Promise<ActAnswer> {
  if (commands.identity === null) throw noProviderError()
  const kind = requiredField(fields, 'what') === 'missing' ? 'missing' : 'hold'
  const dryRun = fields['dryRun'] === 'yes'
  if (!dryRun) checkConfirmed(fields)
  const subjectId = requiredField(fields, 'subject')
  const result = await commands.identity.closeVerification({ subjectId, kind, dryRun })
  if (result !== 'closed') return nothingDone(unclosedWords[result])
  if (!dryRun) return { to: section, note: `${kind}-closed` }
  return { show: sentencePage('It can be closed', 'The provider confirms it. Nothing was changed yet.', backLink) }
}

const nothingDone = (text: string): ActAnswer => ({
  show: sentencePage('Nothing was changed', text, backLink),
  status: 409,
})
