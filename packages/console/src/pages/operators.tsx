/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Operators: who may sign in, and with which role. @module */
import type { OperatorView } from '@payment-integration/core'
import { operatorRoles } from '@payment-integration/core/operators'
import { ActForm } from '../view/act-form.js'
import { ChoiceField, ConfirmField, TextField } from '../view/fields.js'
import { Badge, Cell, Pager, Table, When } from '../view/parts.js'

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
