/** Causes events in a service, for the integration that asks. @module */
import { chainOf, type TriggerDeps } from './context.js'
import { TriggerError, type TriggerEvent } from './events.js'
import { parseTriggerRequest, type TriggerRequest } from './request.js'
import { scenarios } from './scenarios.js'

/**
 * Checks a request at once, then causes its events one after the other, as they are read.
 * @param request - A {@link TriggerRequest}, such as the JSON of a body.
 * @throws TriggerRequestError `ERR_TRIGGER_INVALID` for an unknown scenario or option, a malformed value, or a chain
 * that is not simulated. The iteration rejects with a TriggerError `ERR_TRIGGER` when the scenario ends early, or while
 * another one runs.
 */
export type Trigger = (
  request: unknown,
  caller: { readonly integrationAddress: string },
) => AsyncGenerator<TriggerEvent, void, undefined>

/** Makes the trigger of a service. It runs one scenario at a time: a reorganisation would replace blocks of another. */
export function createTrigger(deps: TriggerDeps): Trigger {
  let isRunning = false
  return (value, { integrationAddress }) => {
    const request = parseTriggerRequest(value)
    chainOf(deps, request.chainId)
    return run(request, integrationAddress)
  }

  async function* run(request: TriggerRequest, integrationAddress: string): ReturnType<Trigger> {
    if (isRunning) throw new TriggerError('Another trigger is running; try again when it has ended.')
    isRunning = true
    const { scenario } = request
    let [payments, snapshots] = [0, 0]
    try {
      for await (const event of scenarios[scenario]({ ...deps, integrationAddress }, request)) {
        if (event.event === 'block') payments += event.txHashes.length
        if (event.event === 'snapshot') snapshots += 1
        yield event
      }
    } catch (error) {
      throw isCoded(error) ? new TriggerError(error.message, { cause: error }) : error
    } finally {
      isRunning = false
    }
    yield { event: 'done', scenario, payments, snapshots }
  }
}

/** An error of the service that says what is wrong, such as an identity provider that cannot be reached. */
function isCoded(error: unknown): error is Error {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown }
  return typeof message === 'string' && String(code).startsWith('ERR_')
}
