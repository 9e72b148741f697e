/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Where deliveries go, how that works, and a test. @module */
import type { IntegrationView, SentTest } from '@payment-integration/core'
import type { AttemptRecord, EndpointView } from '@payment-integration/core/ports'
import { healthOf } from '../pages/endpoints.js'
import { adviceOf } from '../view/advice.js'
import { Badge, Copyable, Facts, Pre, Shown, When } from '../view/parts.js'
import { Answer } from '../view/rows.js'
import { latencyOf, shownText, spanOf } from '../view/text.js'
import { receiverCode } from './lists.js'
import { PortalForm, portalHref } from './page.js'

/** An endpoint with its newest failure. */
export interface EndpointProps {
  readonly integration: IntegrationView
  readonly health: EndpointView | null
  readonly lastFailure: (AttemptRecord & { readonly deliveryId: string }) | null
  readonly now: number
}

/** The page. */
export function EndpointPage(props: EndpointProps) {
  const { notificationUrl } = props.integration
  return (
    <>
      <h1>
        Endpoint <Badge word={healthOf({ ...props.integration, health: props.health })} />
      </h1>
      <EndpointFacts {...props} />
      <h2>Notification URL</h2>
      <PortalForm act="url" label="Set the URL">
        <label for="url">
          An https: URL with a public name; empty: no deliveries
          <input id="url" name="url" type="url" class="long" value={notificationUrl ?? ''} maxlength={2048} />
        </label>
      </PortalForm>
      <p class="dim">Deliveries that are due go to the new URL too. The failures of the old one are forgotten.</p>
      <h2>Test delivery</h2>
      {notificationUrl === null ? (
        <p>Set a URL first.</p>
      ) : (
        <>
          <p>
            A signed sample is posted to the URL, and its answer is shown here. It has the title “Test delivery”, no
            state and no amount: a receiver that reads the state never takes it for money.
          </p>
          <PortalForm act="test" label="Send a test delivery" />
        </>
      )}
      <h2>A receiver</h2>
      <p>
        It has the signing secret in its environment; see <a href={portalHref('/secrets')}>Secrets</a>. Answer 2xx
        within 5 seconds, once the version is stored.
      </p>
      <Copyable label="A receiver that verifies deliveries" text={receiverCode} />
    </>
  )
}

function EndpointFacts({ health, lastFailure, now }: EndpointProps) {
  const advice = lastFailure === null ? null : adviceOf(lastFailure.status, lastFailure.reason)
  return (
    <>
      <Facts
        rows={[
          [
            'Failing for',
            health?.failingSince == null
              ? 'not failing'
              : `${spanOf(now - health.failingSince)}, ${health.failures} in a row`,
          ],
          ['Blocked until', health?.blockedUntil == null ? 'not blocked' : <When at={health.blockedUntil} withDate />],
          [
            'Last failure',
            lastFailure === null ? (
              'none of late'
            ) : (
              <>
                <Answer {...lastFailure} /> <When at={lastFailure.startedAt} withDate />
              </>
            ),
          ],
        ]}
      />
      {advice === null ? null : (
        <p class={health === null ? 'dim' : 'note bad'}>
          <Shown text={`${advice.cause} ${health === null ? 'It answers again.' : advice.remedy}`} most={400} />
        </p>
      )}
    </>
  )
}

/** Characters of an answer that the page shows. */
const mostShown = 4_000

/** The page. Nothing of it is stored. */
export function TestAnswer({ sent }: { sent: SentTest }) {
  const advice = adviceOf(sent.status, sent.reason)
  const headers = Object.entries(sent.headers).map(([name, value]) => `${name}: ${value}`)
  return (
    <>
      <h1>Test delivery</h1>
      <Facts
        rows={[
          ['Answer', <Answer {...sent} />],
          ['Latency', latencyOf(sent.latencyMs)],
          ['Sent', <When at={sent.startedAt} withDate />],
          ['URL', <Shown text={sent.url} />, 'wide'],
        ]}
      />
      {advice === null ? (
        <p>The receiver accepted it. If it verifies signatures, its signing secret is the right one.</p>
      ) : (
        <p class="note bad">
          {advice.cause} {advice.remedy}
        </p>
      )}
      {sent.excerpt ? (
        <>
          <h2>Start of the answer</h2>
          <Pre label="Start of the answer" text={shownText(sent.excerpt, mostShown)} wrap />
        </>
      ) : null}
      <h2>What was sent</h2>
      <Pre
        label="The request"
        text={`POST ${shownText(sent.url, 2_048)}\n${headers.join('\n')}\n\n${sent.body}`}
        wrap
      />
      <p class="dim">
        This is no payment: it has no state, no amount, and a hash that no transaction has. It is neither retried nor
        listed.
      </p>
      <div class="acts">
        <PortalForm act="test" label="Send another one" />
        <a href={portalHref('/endpoint')}>Back to the endpoint</a>
      </div>
    </>
  )
}
