/** Requests to addresses of the configuration: receipts, the identity provider, the OpenID provider. @module */
import { filterAnswers } from '@payment-integration/contract/internal-io'
import { Agent, buildConnector, fetch as undiciFetch } from 'undici'

/** An agent that takes every answer that HTTP allows. Its callers limit the time of a whole exchange. */
export function createAgent(connectTimeoutMs: number): Agent {
  const connector = buildConnector({ timeout: connectTimeoutMs })
  return new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(target, callback) {
      connector(target, (...made) => {
        if (made[0] === null) filterAnswers(made[1])
        callback(...made)
      })
    },
  })
}

/** A `fetch` over {@link createAgent}. The runtime's own takes an unexpected `100 Continue` for a dead connection. */
export function createFetch(): typeof fetch {
  const dispatcher = createAgent(10_000)
  return ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher })) as unknown as typeof fetch
}
