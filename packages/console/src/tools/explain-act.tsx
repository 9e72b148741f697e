/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Explains a pasted delivery at once. @module */
import { parseInstant } from '@payment-integration/contract/parse'
import type { Act } from '../acts/act.js'
import { FilterError } from '../filters.js'
import { integrationChoices } from '../pages/part-of.js'
import { ExplainPage } from './explain-view.js'
import { givenTool, integrationOf } from './integration-field.js'

/** Fields `integration`, `headers`, `body`, and `at`: the time of the receipt. Shows the verdict. */
export const explainAct: Act = {
  needs: 'operator',
  async run(input) {
    const { fields, service, now } = input
    const explain = givenTool(input.tools.explain)
    const { address } = await integrationOf(input)
    const receivedAt = fields['at'] === undefined ? now() : parseInstant(`${fields['at']}Z`)
    if (receivedAt === null) throw new FilterError('Received at is no time such as 2026-01-31T12:30:00.')
    // A form turns every line end into CR LF.
    const [headers, body] = [fields['headers'] ?? '', (fields['body'] ?? '').replaceAll('\r\n', '\n')]
    const result = await explain({ integrationAddress: address, headers, body, receivedAt })
    const given = { integration: address, headers, body, at: fields['at'] }
    const integrations = await integrationChoices(service.queries)
    const page = <ExplainPage {...{ result, integrations, given }} now={now()} />
    return { show: { title: 'Explain a delivery', section: '/tools', body: page } }
  },
}
