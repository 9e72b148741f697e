/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The tools of a server in development: cause events, probe a receiver, explain a delivery. @module */
import { triggerScenarios, triggerVerdicts } from '@payment-integration/contract'
import type { Child } from 'hono/jsx'
import { ActForm } from '../view/act-form.js'
import { ChoiceField, TextField } from '../view/fields.js'
import { hrefOf, Shown } from '../view/parts.js'
import { ExplainForm } from './explain-view.js'
import { IntegrationChoice, type NamedAddress } from './integration-choice.js'
import type { ConsoleTools, TriggerTool } from './tools.js'

/** Content of the page. */
export interface ToolsPageProps {
  readonly tools: ConsoleTools
  readonly integrations: readonly NamedAddress[]
  readonly now: number
}

/** The page. */
export function ToolsPage({ tools, integrations, now }: ToolsPageProps) {
  return (
    <>
      <h1>Tools</h1>
      <p class="dim">
        For development. The audit log records a probe of a receiver, and no other act of this page. Results are{' '}
        <a href={hrefOf('/jobs', {})}>jobs</a>.
      </p>
      {integrations.length === 0 ? <p class="note">No integration is registered: create one first.</p> : null}
      {tools.trigger === undefined ? null : <Trigger tool={tools.trigger} integrations={integrations} />}
      {tools.doctor === undefined ? null : (
        <Tool title="Doctor">
          <p>
            Sends about 70 deliveries to the notification URL of an integration, and names the cause and the cure of
            each wrong answer. The payments are marked: their hashes begin with <code>0xd0c70000</code>.
          </p>
          <ActForm act="doctor" label="Probe the receiver" needs="operator">
            <IntegrationChoice integrations={integrations} />
          </ActForm>
        </Tool>
      )}
      {tools.explain === undefined ? null : (
        <Tool title="Explain a delivery">
          <ExplainForm integrations={integrations} now={now} given={{}} />
        </Tool>
      )}
    </>
  )
}

function Tool({ title, children }: { title: string; children?: Child }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

function Trigger({ tool, integrations }: { tool: TriggerTool; integrations: readonly NamedAddress[] }) {
  return (
    <Tool title="Cause events">
      <p>
        Makes payments on simulated chains, which are indexed, changed and delivered as in production. Empty fields are
        drawn. <code>kyc</code> uses the verdict alone, and <code>burst</code> the number of payments.
      </p>
      <ActForm act="trigger" label="Cause" needs="operator">
        <IntegrationChoice integrations={integrations} />
        <ChoiceField name="scenario" label="Scenario" values={triggerScenarios} />
        <TextField name="amount" label="Amount" hint="12.50" isOptional />
        <TextField name="token" label="Token" hint="USDC" isOptional />
        <ChoiceField name="chain" label="Chain" values={tool.chainIds.map(String)} />
        <TextField name="memo" label="Memo" hint="order-7" isOptional />
        <TextField name="count" label="Payments of burst" hint="100" isOptional />
        <ChoiceField name="verdict" label="Verdict of kyc" values={triggerVerdicts} />
      </ActForm>
    </Tool>
  )
}

/** One button that makes a payment; nothing where the server cannot. */
export function TestPayment({ tools, integration }: { tools: ConsoleTools; integration: NamedAddress | undefined }) {
  if (tools.trigger === undefined || integration === undefined) return null
  const fields = { integration: integration.address, scenario: 'success' }
  return (
    <div class="acts">
      <ActForm act="trigger" label="Send a test payment" needs="operator" fields={fields} />
      <span class="dim">
        to <Shown text={integration.name === '' ? integration.address : integration.name} most={40} />, on a simulated
        chain
      </span>
    </div>
  )
}
