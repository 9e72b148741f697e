/** The tools of a server in development: cause events, and probe a receiver. @module */
import { triggerScenarios, triggerVerdicts } from '@payment-integration/contract/internal'
import type { Child } from 'hono/jsx'
import { FilterError, parseWholeNumber } from '../filters.js'
import type { JobRow } from '../jobs.js'
import { type ConsoleTools, hasTools, type ReceiverProbe, type TriggerTool } from '../tools.js'
import { ActForm, ChoiceField, IntegrationChoice, type NamedAddress, TextField } from '../view/forms.js'
import { buildHref, paymentPath, Shown } from '../view/parts.js'
import { formatCount, formatNumber, nameChain, shortenHex } from '../view/text.js'
import { ActError } from '../web/run-form.js'
import { ExplainForm, explain } from './explain.js'
import { startJob } from './jobs.js'
import { type ActInput, actsFor, integrationChoices, integrationField, type Load, requireTool } from './page.js'

export const toolsPage: Load = async ({ service, tools, clock }) => {
  if (!hasTools(tools)) return null
  const integrations = await integrationChoices(service.queries)
  const newest = tools.trigger && (await service.queries.payments({ limit: 1 })).rows[0]
  const body = (
    <>
      <h1>Tools</h1>
      <p class="dim">
        For development: simulate payments, test a receiver, explain a delivery. Each run is a{' '}
        <a href={buildHref('/jobs')}>job</a>; only tests of a receiver are in the audit log.
      </p>
      {integrations.length === 0 ? <p class="note">No integration is registered: create one first.</p> : null}
      {tools.trigger && <Trigger {...{ tool: tools.trigger, integrations, firstId: newest?.chainId }} />}
      {tools.doctor === undefined ? null : (
        <Tool title="Test a receiver">
          <p>
            Sends about 70 deliveries to the notification URL of an integration, and names the cause and the fix of each
            wrong answer. The payments are marked: their hashes begin with <code>0xd0c70000</code>.
          </p>
          <ActForm act="doctor" label="Run the tests" needs="operator">
            <IntegrationChoice integrations={integrations} />
          </ActForm>
        </Tool>
      )}
      {tools.explain === undefined ? null : (
        <Tool title="Explain a delivery">
          <ExplainForm integrations={integrations} now={clock.now()} values={{}} />
        </Tool>
      )}
    </>
  )
  return { title: 'Tools', section: '/tools', body }
}

const Tool = ({ title, children }: { title: string; children?: Child }) => (
  <section>
    <h2>{title}</h2>
    {children}
  </section>
)

/** The form for events. @param props.firstId - The chain that is offered first: that of the newest payment. */
function Trigger(props: { tool: TriggerTool; integrations: readonly NamedAddress[]; firstId: number | undefined }) {
  const { tool, integrations, firstId } = props
  const chainIds = [...tool.chainIds].sort((a, b) => Number(b === firstId) - Number(a === firstId))
  return (
    <Tool title="Simulate events">
      <p>
        Makes payments on a simulated chain. They are indexed, updated and delivered as in production. Fields that you
        leave empty get random values.
      </p>
      <ActForm act="trigger" label="Run scenario" needs="operator">
        <IntegrationChoice integrations={integrations} />
        <ChoiceField name="scenario" label="Scenario" values={triggerScenarios} />
        <TextField name="amount" label="Amount" hint="12.50" isOptional />
        <TextField name="token" label="Token" hint="USDC" isOptional />
        <ChoiceField name="chain" label="Chain" values={chainIds.map((id) => [`${id}`, nameChain(id)] as const)} />
        <TextField name="memo" label="Memo" hint="order-7" isOptional />
        <TextField name="count" label="Number of payments (burst only)" hint="100" isOptional />
        <ChoiceField name="verdict" label="Review answer (kyc only)" values={triggerVerdicts} />
      </ActForm>
    </Tool>
  )
}

export function TestPayment({ tools, integration }: { tools: ConsoleTools; integration: NamedAddress | undefined }) {
  if (tools.trigger === undefined || integration === undefined) return null
  const fields = { integration: integration.address, scenario: 'success' }
  return (
    <div class="acts">
      <ActForm act="trigger" label="Send a test payment" needs="operator" fields={fields} />
      <span class="dim">
        to <Shown text={integration.name === '' ? integration.address : integration.name} max={40} />, on a simulated
        chain
      </span>
    </div>
  )
}

export const toolActs = actsFor('operator', {
  /** Fields: `integration`, `scenario` and the scenario's: docs/decisions/trigger-and-listen.md. Opens the job. */
  trigger,
  doctor,
  explain,
})

async function trigger(input: ActInput) {
  const { fields } = input
  const tool = requireTool(input.tools.trigger)
  const { address } = await integrationField(input)
  const events = openEvents(() => tool.run(buildRequest(fields), { integrationAddress: address }))
  return startJob(input, {
    title: `Scenario ${triggerScenarios.find((name) => name === fields['scenario']) ?? 'of the server'}`,
    async run(report, signal) {
      let done = 0
      try {
        for (let next = await events.next(); next.done !== true; next = await events.next()) {
          done += 1
          report({ done, words: done === 1 ? 'One event so far.' : `${formatNumber(done)} events so far.` })
          report.addRow(toEventRow(next.value))
          if (signal.aborted) break
        }
        report({ words: `${formatCount(done, 'event')}.` })
      } catch (error) {
        throw hasCode(error, 'ERR_TRIGGER') ? new ActError(error.message) : error
      } finally {
        await events.return?.()
      }
    },
  })
}

/** Keeps the fields that the scenario uses; the form sends the fields of every scenario. */
function buildRequest({ scenario, amount, token, memo, chain, count, verdict }: ActInput['fields']): object {
  if (scenario === 'kyc') return { scenario, verdict }
  const chainId = chain === undefined ? undefined : parseWholeNumber('Chain', chain)
  const number = scenario === 'burst' && count !== undefined ? parseWholeNumber('Payments', count) : undefined
  return { scenario, amount, token, memo, chainId, count: number }
}

function openEvents(start: () => AsyncIterable<object>): AsyncIterator<object> {
  try {
    return start()[Symbol.asyncIterator]()
  } catch (error) {
    if (hasCode(error, 'ERR_TRIGGER_INVALID')) throw new FilterError(error.message)
    throw error
  }
}

function hasCode(error: unknown, code: string): error is Error {
  return error instanceof Error && 'code' in error && error.code === code
}

type Event = Readonly<Record<string, unknown>>

/** The row of an event, whose fields are not trusted because the event comes from the host. */
function toEventRow(sent: object): JobRow {
  const event = sent as Event
  const word = toText(event['event'])
  return { word, text: formatText(word, event), tone: findTone(word, event), path: findPath(event) }
}

function formatText(word: string, event: Event): string {
  const { chainId, blockNumber, txHash, version, state, status, expected, included, payments } = event
  const blockPayments = toList(event['txHashes']).length
  switch (word) {
    case 'block':
      return `Block ${toText(blockNumber)} of chain ${toText(chainId)}: ${formatCount(blockPayments, 'payment')}`
    case 'update':
      return `The processor's update of ${shortenHash(txHash)}: ${toText(state)}`
    case 'snapshot':
      return `Version ${toText(version)} of ${shortenHash(txHash)}: ${toText(state ?? 'no state')}`
    case 'delivery':
      return `Version ${toText(version)} of ${shortenHash(txHash)} was answered ${toText(status ?? 'nothing')}; a correct receiver: ${toText(expected)}`
    case 'reorganized':
      return `${shortenHash(txHash)} ${included === true ? 'is in another block' : 'left the chain'}`
    case 'share':
      return `A verification was shared: status ${toText(status)}`
    case 'done':
      return `${formatCount(Number(payments), 'payment')}, ${formatCount(Number(event['snapshots']), 'snapshot')}`
    default:
      return toText(event['reason'] ?? '')
  }
}

function findTone(word: string, { status }: Event): NonNullable<JobRow['tone']> {
  if (word === 'failed') return 'bad'
  if (word === 'done') return 'good'
  if (word !== 'delivery') return 'plain'
  return Number(status) >= 200 && Number(status) < 300 ? 'good' : 'bad'
}

function findPath({ chainId, txHash, txHashes }: Event): string | undefined {
  const hash = toText(txHash ?? toList(txHashes)[0])
  const isPayment = /^\d{1,15}$/.test(toText(chainId)) && /^0x[0-9a-f]{64}$/.test(hash)
  return isPayment ? paymentPath({ chainId: Number(chainId), txHash: hash }) : undefined
}

const toText = (value: unknown) => (typeof value === 'string' ? value : String(value ?? ''))
const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const shortenHash = (value: unknown) => `${toText(value).slice(0, 10)}…`
const tones = { pass: 'good', fail: 'bad', warn: 'warn', 'not-run': 'plain' } as const

async function doctor(input: ActInput) {
  const runDoctor = requireTool(input.tools.doctor)
  const { address, notificationUrl } = await integrationField(input)
  if (notificationUrl === null) throw new ActError('The integration has no notification URL to probe. Set one first.')
  return startJob(input, {
    title: `Receiver test of ${shortenHex(address)}`,
    async run(report, signal) {
      await input.commands.recordAction({ action: 'integration.receiver_probed', subject: address })
      let done = 0
      const onProbe = (probe: ReceiverProbe) => {
        done += 1
        report({ done, words: `${formatNumber(done)} probes ended.` })
        report.addRow(toProbeRow(probe))
      }
      const result = await runDoctor({ integrationAddress: address, signal, onProbe })
      report.addFirstRows(
        result.findings.map(({ verdict, sentence, probes, fix }) => ({
          word: verdict === 'fail' ? 'cause' : 'advice',
          tone: tones[verdict],
          text: sentence,
          remarks: [fix.summary, `Seen in: ${probes.join(', ')}`],
        })),
      )
      const { passed, failed, warned, notRun } = result
      report({ words: `${passed} probes passed, ${failed} failed, ${warned} warned, ${notRun} did not run.` })
    },
  })
}

function toProbeRow({ name, verdict, sent, expected, evidence }: ReceiverProbe): JobRow {
  const remarks = verdict === 'pass' ? [evidence] : [`Sent: ${sent}. Expected: ${expected}.`, evidence]
  return {
    word: verdict.replace('-', ' '),
    tone: tones[verdict],
    text: name,
    remarks: remarks.filter((each) => each !== ''),
  }
}
