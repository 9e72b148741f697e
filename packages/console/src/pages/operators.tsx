/** Operators and their acts. Source: docs/decisions/operators.md. @module */
import type { OperatorView } from '@payment-integration/core'
import { operatorRoles } from '@payment-integration/core'
import type { IssuedLink, OperatorRole } from '@payment-integration/core/internal'
import { FilterError } from '../filters.js'
import { ActForm, ChoiceField, TextField } from '../view/forms.js'
import { base, EnabledBadge, newSecretsPage, Pager, Table, When } from '../view/parts.js'
import type { Act, ActAnswer, ActInput, Load } from './page.js'
import { actsFor, checkConfirmed, requiredField, slicePage } from './page.js'

const section = '/operators'

export const operatorsPage: Load = async ({ service, signIn, clock }, query) => {
  if (signIn === undefined) return null
  const { rows, next } = slicePage(await service.operators.list(), ({ name }) => name, query, section)
  const at = clock.now()
  const body = (
    <>
      <h1>Operators</h1>
      <Table
        label="Operators"
        rows={rows}
        columns={[
          ['State', EnabledBadge],
          ['Name', ({ name }) => name],
          ['Role', ({ role }) => role],
          ['Passphrase', (one) => describePassphrase(one, at)],
          ['Created', ({ createdAt }) => <When at={createdAt} withDate />],
          ['Actions', OperatorActs],
        ]}
      />
      <Pager first={null} next={next} />
      <ActForm act="operator-create" label="Create the operator" needs="admin">
        <h2>New operator</h2>
        <TextField name="name" label="Name, in lower case" hint="alice" />
        <ChoiceField name="role" label="Role" values={operatorRoles} value="viewer" />
      </ActForm>
      <p class="dim">Only the command line can change the last admin.</p>
    </>
  )
  return { title: 'Operators', section, body }
}

function describePassphrase({ signsInBy, hasPassphrase, linkExpiresAt }: OperatorView, now: number) {
  if (signsInBy === 'oidc') return 'none: signs in at the OpenID provider'
  if (linkExpiresAt === null) return hasPassphrase ? 'set' : 'none, and no one-time link'
  if (linkExpiresAt <= now) return `${hasPassphrase ? 'set' : 'none'}; the one-time link is expired`
  return (
    <>
      {hasPassphrase ? 'set' : 'none'}; one-time link until <When at={linkExpiresAt} withDate />
    </>
  )
}

function OperatorActs({ name, role, enabled }: OperatorView) {
  const act = { needs: 'admin', fields: { name } } as const
  return (
    <details>
      <summary>Change</summary>
      <ActForm {...act} act="operator-role" label="Set the role">
        <ChoiceField name="role" label={`Role of ${name}`} values={operatorRoles} value={role} />
      </ActForm>
      {enabled ? (
        <>
          <ActForm {...act} act="operator-disable" label="Disable" confirm="ends all sessions" />
          <ActForm {...act} act="operator-reset" label="Reset" confirm="ends all sessions and renews the passphrase" />
        </>
      ) : (
        <ActForm {...act} act="operator-enable" label="Enable" />
      )}
    </details>
  )
}

const keepLastAdmin = ({ hasOidc }: ActInput) => ({ keepsAdmin: true, hasOidc })

export const operatorActs = actsFor('admin', {
  'operator-create': requireSignIn(async (input) => {
    const link = await input.commands.operators.create({ name: readName(input), role: readRole(input) })
    return linkPage(input, 'The operator is created', link)
  }),
  'operator-enable': requireSignIn(async (input) => {
    await input.commands.operators.setEnabled(readName(input), true)
    return { to: section, note: 'operator-enabled' }
  }),
  'operator-disable': requireSignIn(async (input) => {
    checkConfirmed(input.fields)
    await input.commands.operators.setEnabled(readName(input), false, keepLastAdmin(input))
    return { to: section, note: 'operator-disabled' }
  }),
  'operator-role': requireSignIn(async (input) => {
    await input.commands.operators.setRole(readName(input), readRole(input), keepLastAdmin(input))
    return { to: section, note: 'role-set' }
  }),
  'operator-reset': requireSignIn(async (input) => {
    checkConfirmed(input.fields)
    const link = await input.commands.operators.reset(readName(input), keepLastAdmin(input))
    return linkPage(input, 'The operator is reset', link)
  }),
})

/** Makes an act available only where operators sign in. */
function requireSignIn(run: Act['run']): Act['run'] {
  return async (input) => {
    if (!input.visit.canSignOut) throw new FilterError('Nobody signs in here, so there are no operators to change.')
    return run(input)
  }
}

const readName = ({ fields }: ActInput) => requiredField(fields, 'name')
/** The core checks the role. */
const readRole = ({ fields }: ActInput) => requiredField(fields, 'role') as OperatorRole

function linkPage({ origin }: ActInput, title: string, { operator, linkToken }: IssuedLink): ActAnswer {
  const instructions = `Give it to ${operator.name} alone, over a channel that you trust. It sets the passphrase once, within 24 hours.`
  const secrets = { 'One-time link': `${origin}${base}/join#${linkToken}` }
  return { show: newSecretsPage({ title, section, secrets }, instructions) }
}
