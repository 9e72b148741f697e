/** The integration's endpoint, its health, and a test delivery. @module */
import type { SentTest } from '@payment-integration/core/internal'
import { describeHealth, describeRemedy, showFailing, showFailure } from '../pages/endpoints.js'
import { findAdvice } from '../view/advice.js'
import { Badge, Copyable, Facts, Pre, Shown, When } from '../view/parts.js'
import { Answer } from '../view/rows.js'
import { formatLatency, showText } from '../view/text.js'
import { type PortalActs, PortalForm, type PortalLoad, portalHref } from './page.js'

const section = '/endpoint'

export const endpointPage: PortalLoad = async ({ tenant, clock }) => {
  const [integration, health, lastFailure] = await Promise.all([
    tenant.integration(),
    tenant.endpoint(),
    tenant.lastFailure(),
  ])
  const { notificationUrl } = integration
  const remedy = describeRemedy({ lastFailure, health })
  const body = (
    <>
      <h1>
        Endpoint <Badge word={describeHealth({ ...integration, health })} />
      </h1>
      <Facts
        rows={[
          ['Failing for', showFailing(health, clock.now())],
          ['Last failure', showFailure(lastFailure, portalHref) ?? 'none recently'],
        ]}
      />
      {remedy === null ? null : (
        <p class={health === null ? 'dim' : 'note bad'}>
          <Shown text={remedy} max={400} />
        </p>
      )}
      <h2>Notification URL</h2>
      <PortalForm act="url" label="Set the URL">
        <label for="url">
          A public https: URL; leave it empty to stop deliveries
          <input id="url" name="url" type="url" class="long" value={notificationUrl ?? ''} maxlength={2048} />
        </label>
      </PortalForm>
      <p class="dim">Pending deliveries go to the new URL too, and its failures are counted from zero.</p>
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
      <h2>Example receiver</h2>
      <p>
        Pass it the signing secret in its environment; see <a href={portalHref('/secrets')}>Secrets</a>. Store the
        version, then answer 2xx within 5 seconds.
      </p>
      <Copyable label="A receiver that verifies deliveries" text={receiverCode} />
    </>
  )
  return { title: 'Endpoint', section, body }
}

export const endpointActs: PortalActs = {
  async test(tenant) {
    const sent = await tenant.sendTest()
    return { show: { title: 'Test delivery', section, body: <TestAnswer sent={sent} /> } }
  },
  async url(tenant, { url }) {
    await tenant.setNotificationUrl(url ?? null)
    return { to: section, note: url === undefined ? 'url-removed' : 'url-set' }
  },
}

const maxShown = 4_000

/** The request and answer of a test delivery; neither is stored. */
function TestAnswer({ sent }: { sent: SentTest }) {
  const advice = findAdvice(sent.status, sent.reason)
  const headers = Object.entries(sent.headers).map(([name, value]) => `${name}: ${value}`)
  return (
    <>
      <h1>Test delivery</h1>
      <Facts
        rows={[
          ['Answer', <Answer {...sent} />],
          ['Latency', formatLatency(sent.latencyMs)],
          ['Sent', <When at={sent.startedAt} withDate />],
          ['URL', <Shown text={sent.url} />, 'wide'],
        ]}
      />
      {advice === null ? (
        <p>The receiver accepted it. If it verifies signatures, its signing secret is the right one.</p>
      ) : (
        <p class="note bad">{advice}</p>
      )}
      {sent.excerpt ? (
        <>
          <h2>Start of the answer</h2>
          <Pre label="Start of the answer" text={showText(sent.excerpt, maxShown)} wrap />
        </>
      ) : null}
      <h2>What was sent</h2>
      <Pre label="The request" text={`POST ${showText(sent.url, 2_048)}\n${headers.join('\n')}\n\n${sent.body}`} wrap />
      <p class="dim">
        This is no payment: it has no state, no amount, and a hash that no transaction has. It is neither retried nor
        listed.
      </p>
      <div class="acts">
        <PortalForm act="test" label="Send another one" />
        <a href={portalHref(section)}>Back to the endpoint</a>
      </div>
    </>
  )
}

const receiverCode = `import { createServer } from 'node:http'
import { createVerifier, isWebhookRejection, readBody } from '@payment-integration/webhook'

const { verify } = createVerifier({ secrets: process.env.WEBHOOK_SIGNING_SECRET })

createServer(async (request, response) => {
  try {
    const { snapshot } = await verify({ body: await readBody(request), headers: request.headers })
    console.log(snapshot.txHash, snapshot.version, snapshot.state) // store it here, once for each version
    response.writeHead(204).end()
  } catch (error) {
    response.writeHead(isWebhookRejection(error) ? error.status : 500).end()
  }
}).listen(process.env.PORT)
`
