/** Requests to addresses of the configuration: receipts, the identity provider, the OpenID provider. @module */
import { filterAnswers } from '@payment-integration/contract/internal-io'
import { Agent, buildConnector, fetch as undiciFetch } from 'undici'

/** Limits the bytes on the wire. Each caller also limits the body, such as the identity provider's to 1 MiB. */
const maxBytes = 2 * 1024 * 1024

/** An agent that accepts every answer that HTTP allows, up to 2 MiB. Its callers limit the time of a whole exchange. */
export function createAgent(connectTimeoutMs: number): Agent {
  const connector = buildConnector({ timeout: connectTimeoutMs })
  return new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(target, callback) {
      connector(target, (...outcome) => {
        if (outcome[0] === null) filterAnswers(outcome[1], maxBytes)
        callback(...outcome)
      })
    },
  })
}

/** A `fetch` over {@link createAgent}. The runtime's own `fetch` fails at an unexpected `100 Continue`. */
export function createFetch(): typeof fetch {
  const dispatcher = createAgent(10_000)
  return ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher })) as unknown as typeof fetch
}
