/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Operators and their acts. The last admin who can sign in stays: docs/decisions/operators.md. @module */
import type { IssuedLink, OperatorView } from '@payment-integration/core'
import { operatorRoles } from '@payment-integration/core/operators'
import type { OperatorRole } from '@payment-integration/core/ports'
import { FilterError } from '../filters.js'
import { ActForm, ChoiceField, ConfirmField, TextField } from '../view/forms.js'
import { Badge, base, Cell, NewSecretsPage, Pager, Table, When } from '../view/parts.js'
import { type Act, type ActAnswer, type ActInput, confirmedField, requiredField } from './page.js'

const titles = ['State', 'Name', 'Role', 'Passphrase', 'Created', 'Acts']

/** Operators by name. */
export function OperatorsPage(props: { operators: readonly OperatorView[]; now: number; next: string | null }) {
  return (
    <>
      <h1>Operators</h1>
      <Table label="Operators" columns={titles.map((title) => ({ title }))}>
        {props.operators.map((one) => (
          <tr>
            <Cell of="State">
              <Badge word={one.enabled ? 'enabled' : 'disabled'} tone={one.enabled ? 'good' : 'bad'} />
            </Cell>
            <Cell of="Name">{one.name}</Cell>
            <Cell of="Role">{one.role}</Cell>
            <Cell of="Passphrase">{passphraseOf(one, props.now)}</Cell>
            <Cell of="Created">
              <When at={one.createdAt} withDate />
            </Cell>
            <Cell of="Acts">
              <OperatorActs one={one} />
            </Cell>
          </tr>
        ))}
      </Table>
      <Pager first={null} next={props.next} />
      <ActForm act="operator-create" label="Create the operator" needs="admin">
        <h2>New operator</h2>
        <TextField name="name" label="Name, in lower case" hint="alice" />
        <ChoiceField name="role" label="Role" values={operatorRoles} value="viewer" />
      </ActForm>
      <p class="dim">
        The last admin who can sign in is neither disabled nor demoted nor reset here. The command line can do it.
      </p>
    </>
  )
}

function passphraseOf({ signsInBy, hasPassphrase, linkExpiresAt }: OperatorView, now: number) {
  if (signsInBy === 'oidc') return 'none: signs in at the OpenID provider'
  if (linkExpiresAt === null) return hasPassphrase ? 'set' : 'none, and no one-time link'
  if (linkExpiresAt <= now) return `${hasPassphrase ? 'set' : 'none'}; the one-time link is expired`
  return (
    <>
      {hasPassphrase ? 'set' : 'none'}; one-time link until <When at={linkExpiresAt} withDate />
    </>
  )
}

function OperatorActs({ one: { name, role, enabled } }: { one: OperatorView }) {
  const fields = { name }
  return (
    <div class="acts">
      <ActForm act="operator-role" label="Set" needs="admin" fields={fields}>
        <ChoiceField name="role" label={`Role of ${name}`} values={operatorRoles} value={role} />
      </ActForm>
      {enabled ? (
        <>
          <ActForm act="operator-disable" label="Disable" needs="admin" fields={fields} tone="danger">
            <ConfirmField label="ends sessions" />
          </ActForm>
          <ActForm act="operator-reset" label="Reset" needs="admin" fields={fields} tone="danger">
            <ConfirmField label="ends sessions" />
          </ActForm>
        </>
      ) : (
        <ActForm act="operator-enable" label="Enable" needs="admin" fields={fields} />
      )}
    </div>
  )
}

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
