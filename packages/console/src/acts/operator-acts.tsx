/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Acts on operators. The last admin who can sign in stays: docs/decisions/operators.md. @module */
import type { IssuedLink } from '@payment-integration/core'
import type { OperatorRole } from '@payment-integration/core/ports'
import { FilterError } from '../filters.js'
import { NewSecretsPage } from '../pages/secrets.js'
import { base } from '../view/parts.js'
import type { Act, ActAnswer, ActInput } from './act.js'
import { confirmedField, requiredField } from './fields.js'

const section = '/operators'
const keepsAdmin = ({ hasOidc }: ActInput) => ({ keepsAdmin: true, hasOidc })

/** The acts, by their names in the address. */
export const operatorActs: Readonly<Record<string, Act>> = {
  'operator-create': act(async (input) => {
    const link = await input.commands.operators.create({ name: nameOf(input), role: roleOf(input) })
    return linkPage(input, 'The operator is created', link)
  }),
  'operator-enable': act(async (input) => {
    await input.commands.operators.setEnabled(nameOf(input), true)
    return { to: section, note: 'operator-enabled' }
  }),
  'operator-disable': act(async (input) => {
    confirmedField(input.fields)
    await input.commands.operators.setEnabled(nameOf(input), false, keepsAdmin(input))
    return { to: section, note: 'operator-disabled' }
  }),
  'operator-role': act(async (input) => {
    await input.commands.operators.setRole(nameOf(input), roleOf(input), keepsAdmin(input))
    return { to: section, note: 'role-set' }
  }),
  'operator-reset': act(async (input) => {
    confirmedField(input.fields)
    const link = await input.commands.operators.reset(nameOf(input), keepsAdmin(input))
    return linkPage(input, 'The operator is reset', link)
  }),
}

/** An act of admins, only where operators sign in. */
function act(run: Act['run']): Act {
  return {
    needs: 'admin',
    async run(input) {
      if (!input.visit.canSignOut) throw new FilterError('Nobody signs in here, so there are no operators to change.')
      return run(input)
    },
  }
}

const nameOf = ({ fields }: ActInput) => requiredField(fields, 'name')

/** The core checks the word. */
const roleOf = ({ fields }: ActInput) => requiredField(fields, 'role') as OperatorRole

function linkPage({ origin }: ActInput, title: string, { operator, linkToken }: IssuedLink): ActAnswer {
  const body = (
    <NewSecretsPage title={title} to={section} secrets={[['One-time link', `${origin}${base}/join#${linkToken}`]]}>
      <p>
        Give it to {operator.name} alone, over a channel that you trust. It sets the passphrase once, within 24 hours.
      </p>
    </NewSecretsPage>
  )
  return { show: { title, section, body } }
}
