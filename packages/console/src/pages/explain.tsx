/** Explains a pasted delivery: the form, and the verdict field by field. @module */
import { parseInstant } from '@payment-integration/contract/internal-io'
import { FilterError } from '../filters.js'
import type { ExplainedDelivery } from '../tools.js'
import { ActForm, IntegrationChoice, type NamedAddress, TextField } from '../view/forms.js'
import { Badge, Facts, Problem, Shown, Table } from '../view/parts.js'
import { formatNumber, formatSpan } from '../view/text.js'
import { type ActAnswer, type ActInput, integrationChoices, integrationField, requireTool } from './page.js'

export function ExplainForm(props: {
  readonly integrations: readonly NamedAddress[]
  readonly now: number
  /** The fields as they were sent: `integration`, `at`, `headers`, `body`. */
  readonly values: Readonly<Record<string, string | undefined>>
}) {
  const { integration, at = new Date(props.now).toISOString().slice(0, 19), headers = '', body = '' } = props.values
  return (
    <>
      <p>
        Paste a delivery as your receiver got it. The secret of the integration stays in the server. A form loses white
        space around a body; <code>payment-integration explain</code> reads the exact bytes.
      </p>
      <ActForm act="explain" label="Explain the delivery" needs="operator">
        <IntegrationChoice integrations={props.integrations} chosen={integration} />
        <TextField name="at" label="Received at (UTC)" type="datetime-local" step={1} value={at} isOptional />
        <TextField
          name="headers"
          label="Headers, one per line, or JSON"
          value={headers}
          hint="X-Service-Signature: t=…,v1=…"
          rows={4}
        />
        <TextField name="body" label="Body, up to 60 KB" value={body} rows={6} isOptional />
      </ActForm>
    </>
  )
}

const signatures = {
  matches: ['matches', 'good', 'v1 is the HMAC of t, a dot and this body.'],
  repaired: ['matches after repair', 'warn', 'It matches once the proved faults below are fixed.'],
  differs: ['differs', 'bad', 'No known change of body, secret or header makes it match.'],
  unreadable: ['unreadable', 'bad', 'There is no signature to compare with.'],
} as const

function Verdict({ explanation }: { explanation: ExplainedDelivery }) {
  const { verified, signature, header, ageSeconds, toleranceSeconds, bodyBytes, signedBytes, findings } = explanation
  const [word, tone, meaning] = signatures[signature]
  return (
    <>
      <p class={`note ${verified ? 'good' : 'bad'}`} role="status">
        {verified ? 'A receiver accepts this delivery.' : 'A receiver rejects this delivery.'}
      </p>
      <Facts
        rows={[
          [
            'Signature',
            <>
              <Badge word={word} tone={tone} /> {meaning}
            </>,
            'wide',
          ],
          ['Header', header.count === 1 ? 'arrived once' : `arrived ${header.count} times`],
          ['t', header.t === null ? 'no number' : `${header.t}, unix seconds`],
          ['Age', ageSeconds === null ? 'unknown' : ageText(ageSeconds, toleranceSeconds)],
          ['Body', `${formatNumber(bodyBytes)} bytes`],
          ['Signed bytes', signedBytes === null ? 'unknown' : `${formatNumber(signedBytes)}, with t and the dot`],
        ]}
      />
      <Table
        label="Fields of the signature header"
        rows={header.fields}
        columns={[
          ['Field', ({ name }) => <Shown text={name} max={40} />],
          ['Characters', ({ length }) => formatNumber(length)],
          ['Form', ({ status }) => <Badge word={status} tone={status === 'ok' ? 'good' : 'bad'} />],
        ]}
        empty={null}
      />
      {findings.length === 0 ? null : <h2>Causes and fixes</h2>}
      <Table
        label="Causes and fixes"
        rows={findings}
        columns={[
          [
            'Cause',
            ({ proved, cause }) => (
              <>
                <Badge word={proved ? 'proved' : 'likely'} tone={proved ? 'bad' : 'warn'} /> {cause}
              </>
            ),
          ],
          ['Evidence', ({ evidence }) => <Shown text={evidence.join(' ')} max={600} />],
          ['Fix', ({ change }) => <Shown text={change} max={400} />],
        ]}
        empty={null}
      />
    </>
  )
}

function ageText(seconds: number, tolerance: number): string {
  const side = seconds < 0 ? 'ahead of arrival' : 'old on arrival'
  return `${formatSpan(Math.abs(seconds) * 1_000)} ${side}; up to ${tolerance} s is accepted`
}

/** Fields: `integration`, `headers`, `body`, and `at`, the time of receipt. */
export async function explain(input: ActInput): Promise<ActAnswer> {
  const { fields, service, clock } = input
  const explainDelivery = requireTool(input.tools.explain)
  const { address } = await integrationField(input)
  const receivedAt = fields['at'] === undefined ? clock.now() : parseInstant(`${fields['at']}Z`)
  if (receivedAt === null) throw new FilterError('Received at is not a time such as 2026-01-31T12:30:00.')
  // A form sends every line end as CR LF.
  const [headers, body] = [fields['headers'] ?? '', (fields['body'] ?? '').replaceAll('\r\n', '\n')]
  const result = await explainDelivery({ integrationAddress: address, headers, body, receivedAt })
  const values = { integration: address, headers, body, at: fields['at'] }
  const integrations = await integrationChoices(service.queries)
  const page = (
    <>
      <h1>Explain a delivery</h1>
      {'problem' in result ? <Problem text={result.problem} /> : <Verdict explanation={result} />}
      <h2>Explain another delivery</h2>
      <ExplainForm {...{ integrations, values }} now={clock.now()} />
    </>
  )
  return { show: { title: 'Explain a delivery', section: '/tools', body: page } }
}
