/** Causes the events of a scenario, as a job whose results are the events. @module */
import { triggerScenarios } from '@payment-integration/contract'
import type { Act, ActInput } from '../acts/act.js'
import { ActError } from '../acts/act-error.js'
import { FilterError, wholeOf } from '../filters.js'
import { jobPath } from '../jobs/job-pages.js'
import { grouped } from '../view/text.js'
import { givenTool, integrationOf } from './integration-field.js'
import { triggerRow } from './trigger-row.js'

/** Fields `integration`, `scenario`, and those of the scenario: docs/decisions/trigger.md. Leads to the job. */
export const triggerAct: Act = {
  needs: 'operator',
  async run(input) {
    const { fields, jobs, tools, visit } = input
    const trigger = givenTool(tools.trigger)
    const { address } = await integrationOf(input)
    const events = begin(() => trigger.run(requestOf(fields), { integrationAddress: address }))
    const job = jobs.start({
      title: `Scenario ${triggerScenarios.find((name) => name === fields['scenario']) ?? 'of the server'}`,
      actor: visit.actor,
      async run(report, signal) {
        let done = 0
        try {
          for (let next = await events.next(); next.done !== true; next = await events.next()) {
            done += 1
            report({ done, words: done === 1 ? 'One event so far.' : `${grouped(done)} events so far.` })
            report.row(triggerRow(next.value))
            if (signal.aborted) break
          }
          report({ words: `${grouped(done)} events.` })
        } catch (error) {
          throw hasCode(error, 'ERR_TRIGGER') ? new ActError(error.message) : error
        } finally {
          await events.return?.()
        }
      },
    })
    return { to: jobPath(job) }
  },
}

/** The fields that the scenario uses: a form sends all of them. */
function requestOf({ scenario, amount, token, memo, chain, count, verdict }: ActInput['fields']): object {
  if (scenario === 'kyc') return { scenario, verdict }
  const chainId = chain === undefined ? undefined : wholeOf('Chain', chain)
  const number = scenario === 'burst' && count !== undefined ? wholeOf('Payments', count) : undefined
  return { scenario, amount, token, memo, chainId, count: number }
}

function begin(start: () => AsyncIterable<object>): AsyncIterator<object> {
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
