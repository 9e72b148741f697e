/** Causes events in a service, for the integration that asks. @module */
import { chainOf, type TriggerDeps } from './context.js'
import type { TriggerEvent } from './events.js'
import { parseTriggerRequest, type TriggerRequest } from './request.js'
import { scenarios } from './scenarios.js'

/**
 * Checks a request at once, then causes its events one after the other, as they are read.
 * @param request - A {@link TriggerRequest}, such as the JSON of a body.
 * @throws {TypeError} For an unknown scenario or option. @throws {RangeError} For a malformed value or another chain.
 * The iteration rejects with a TriggerError `ERR_TRIGGER` when the service or the receiver does not go along.
 */
export type Trigger = (
  request: unknown,
  caller: { readonly integrationAddress: string },
) => AsyncGenerator<TriggerEvent, void, undefined>

/** Makes the trigger of a service. */
export function createTrigger(deps: TriggerDeps): Trigger {
  return (value, { integrationAddress }) => {
    const request = parseTriggerRequest(value)
    chainOf(deps, request.chainId)
    return run(request, integrationAddress)
  }

  async function* run(request: TriggerRequest, integrationAddress: string): ReturnType<Trigger> {
    const { scenario } = request
    let [payments, snapshots] = [0, 0]
    for await (const event of scenarios[scenario]({ ...deps, integrationAddress }, request)) {
      if (event.event === 'block') payments += event.txHashes.length
      if (event.event === 'snapshot') snapshots += 1
      yield event
    }
    yield { event: 'done', scenario, payments, snapshots }
  }
}
