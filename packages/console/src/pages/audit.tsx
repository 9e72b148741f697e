/** The audit log, and the act that checks it. @module */
import type { AuditRecord } from '@payment-integration/core/internal'
import { FilterError, parseWholeNumber } from '../filters.js'
import { ActForm } from '../view/forms.js'
import { buildHref, Dim, Empty, Hex, Pager, Shown, Table, When } from '../view/parts.js'
import { formatNumber, showText } from '../view/text.js'
import { startJob } from './jobs.js'
import { actsFor, cutPage, type Load, pageSize } from './page.js'

const section = '/audit'

/** The audit log, newest first. A tampered record may hold any text, so every text is escaped. */
export const auditPage: Load = async ({ service }, query) => {
  const beforeSeq = query['before'] === undefined ? undefined : parseWholeNumber('before', query['before'])
  if (beforeSeq === 0) throw new FilterError('before is 0; the first record has number 1.')
  const records = await service.queries.audit({ beforeSeq, limit: pageSize + 1 })
  const { rows, next } = cutPage(records, ({ seq }) => buildHref(section, { before: seq }))
  const body = (
    <>
      <h1>Audit log</h1>
      <Table
        label="Audit log"
        rows={rows}
        columns={[
          ['No.', ({ seq }) => seq, 'n'],
          ['Time', ({ at }) => <When at={at} withDate />],
          ['Actor', ({ actor }) => <Recorded text={String(actor)} />],
          ['Action', ({ action }) => <Shown text={action} max={60} />],
          ['Subject', ({ subject }) => <Recorded text={String(subject)} />],
          ['Details', ({ details }) => <Details details={details} />],
        ]}
        empty={
          <Empty title="Nothing was changed yet.">
            <p>
              Each change of secrets, URLs, deliveries and verifications leaves a record here, chained by a keyed hash.
            </p>
          </Empty>
        }
      />
      <Pager first={beforeSeq === undefined ? null : buildHref(section)} next={next} />
      <p class="dim">
        A path may hold a secret: a URL is recorded as its origin and a keyed fingerprint. Check that no record was
        changed or removed, here or with <code>payment-integration audit verify</code>.
      </p>
      <ActForm act="verify-audit" label="Check all records" needs="operator" />
    </>
  )
  return { title: 'Audit log', section, body }
}

const maxShown = 600
/** An address or hash, a keyed hash, and a fingerprint in brackets, as in `https://shop.example/[3f2a9c81d0e4]`. */
const hexValues = /(0x[0-9a-f]{40,64}|\b[0-9a-f]{64}\b|\/?\[[0-9a-f]{12}\])/

/** A recorded text, whose hex values are shortened and can be copied. */
const Recorded = ({ text }: { text: string }) => (
  <>
    {showText(text, maxShown)
      .split(hexValues)
      .map((part, index) => {
        if (index % 2 === 0) return part
        const [, slash, fingerprint] = /^(\/?)\[([0-9a-f]+)\]$/.exec(part) ?? []
        if (fingerprint === undefined) return <Hex value={part} />
        return (
          <>
            {slash && '/… '}
            <Dim>fingerprint</Dim> <Hex value={fingerprint} />
          </>
        )
      })}
  </>
)

/** Labels for details whose field names make no clear label. */
const labels: ReadonlyMap<string, string> = new Map([
  ['config', 'configuration'],
  ['configFrom', 'previous configuration'],
  ['configTo', 'new configuration'],
  ['paidToFrom', 'previously paid to'],
  ['paidToTo', 'now paid to'],
  ['emailKey', 'keyed hash of the e-mail address'],
  ['integrationAddress', 'integration'],
])

function Details({ details }: Pick<AuditRecord, 'details'>) {
  if (typeof details !== 'object' || details === null) return <Recorded text={String(details)} />
  return (
    <>
      {Object.entries(details).map(([name, value]) => {
        const text = value === null || value === '' ? 'none' : String(value)
        const label = labels.get(name) ?? name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
        return (
          <span class="detail">
            <Dim>
              <Shown text={label} max={60} />
            </Dim>{' '}
            <Recorded text={/^config(From|To)?$/.test(name) ? `[${text}]` : text} />
          </span>
        )
      })}
    </>
  )
}

export const auditActs = actsFor('operator', {
  async 'verify-audit'(input) {
    const { audit } = input.service
    const head = await audit.head()
    return startJob(input, {
      title: 'Check of the audit log',
      total: head?.seq ?? 0,
      async run(report, signal) {
        const onProgress = (done: number) => report({ done, words: `${formatNumber(done)} records are intact so far.` })
        const { records, last, brokenAt } = await audit.verify({ onProgress, signal })
        if (brokenAt !== null) {
          report.addRow({
            word: 'broken',
            tone: 'bad',
            text: `Record ${brokenAt} is missing, altered, or keyed with a master key that is not configured.`,
            path: `${section}?before=${brokenAt + 1}`,
          })
          report({
            done: records,
            words: `The ${formatNumber(records)} records before number ${brokenAt} are intact.`,
          })
        } else if (last === null) report({ words: 'The audit log is empty.' })
        else {
          report({ done: records, words: `All ${formatNumber(records)} records are intact.` })
          const remark =
            'Store it outside the database: payment-integration audit verify --expect then detects removed newest records.'
          report.addRow({ word: 'newest', text: `${last.seq}:${last.hash}`, remarks: [remark] })
        }
      },
    })
  },
})
