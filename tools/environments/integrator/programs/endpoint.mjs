/** The receiver that an endpoint of each runtime serves, and requests to it. @module */
import { getVerdict } from './verdict.mjs'

const secret = 'whsec_of_the_environments'
const clock = { now: () => 1_700_000_000_000 }

/**
 * The `receive` that every adapter takes, over a verifier and the memory store. Its handler throws for the state
 * `failure`.
 */
export function buildEndpoint({ webhook, versionStore }) {
  const { receive } = versionStore.createReceiver({
    verify: webhook.createVerifier({ secrets: secret, clock }).verify,
    store: versionStore.createMemoryVersionStore(),
    handle: ({ state }) => {
      if (state === 'failure') throw new Error('the shop cannot handle this')
    },
  })
  return { receive, onError: () => {} }
}

/** Requests over HTTP to the runtime's own server; `send` is its `fetch`, bound to the server's URL. */
export async function* serveRequests({ webhookTesting }, _input, { send }) {
  const { createTestDelivery, createTestSnapshot } = webhookTesting
  const post = async ({ version = 1, state = 'success', ...options } = {}) =>
    send({
      method: 'POST',
      ...(await createTestDelivery({ secret, clock, snapshot: createTestSnapshot({ version, state }), ...options })),
    })
  const judge = async (fact, expected, answer) => {
    const { verdict, value } = await getVerdict(answer)
    const status = value === undefined ? verdict : value.status
    await value?.arrayBuffer()
    return `${status === expected ? 'right' : 'WRONG'} ${fact}: ${status}`
  }
  yield await judge('a delivery', 204, post())
  yield await judge('the same again', 204, post())
  yield await judge('a forged one', 401, post({ fault: 'forged' }))
  yield await judge('a tampered one', 401, post({ fault: 'tampered' }))
  yield await judge('an unsigned one', 401, post({ fault: 'unsigned' }))
  yield await judge('a stale one', 400, post({ ageSeconds: 301 }))
  yield await judge('one that the handler fails', 500, post({ version: 2, state: 'failure' }))
  yield await judge('its next version', 204, post({ version: 3 }))
  yield await judge('a GET', 405, send({ method: 'GET' }))
  const signed = await createTestDelivery({ secret, clock })
  yield await judge('a body over the limit', 413, send({ method: 'POST', ...signed, body: new Uint8Array(300_000) }))
  const answers = await Promise.all(Array.from({ length: 10 }, () => post({ version: 4 })))
  yield `ten copies at once: ${answers.map(({ status }) => status).join(' ')}`
}
