/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The answer to a test delivery, and what was sent. @module */
import type { SentTest } from '@payment-integration/core'
import { adviceOf } from '../../advice.js'
import { Facts, Pre, Shown, When } from '../../view/parts.js'
import { Answer } from '../../view/rows.js'
import { latencyOf, shownText } from '../../view/text.js'
import { PortalForm, portalHref } from '../links.js'

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
