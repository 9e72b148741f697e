/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** API keys of the legacy endpoints, without their secrets. @module */
import type { LegacyKeyView } from '@payment-integration/core'
import { ActForm } from '../view/act-form.js'
import { ConfirmField, TextField } from '../view/fields.js'
import { Badge, Cell, Empty, Pager, Shown, Table, When } from '../view/parts.js'

/** Keys, oldest first. */
export function LegacyKeysPage({ keys, next }: { keys: readonly LegacyKeyView[]; next: string | null }) {
  const titles = ['State', 'Id', 'Name', 'Created', 'Revoked', 'Act']
  return (
    <>
      <h1>Keys of the legacy API</h1>
      {keys.length === 0 ? (
        <Empty title="There is no key here.">
          <p>A key is the Authorization header of the legacy look-up and verify endpoints.</p>
        </Empty>
      ) : (
        <Table label="Keys" columns={titles.map((title) => ({ title }))}>
          {keys.map(({ id, name, createdAt, revokedAt }) => (
            <tr>
              <Cell of="State">
                <Badge word={revokedAt === null ? 'valid' : 'revoked'} tone={revokedAt === null ? 'good' : 'plain'} />
              </Cell>
              <Cell of="Id">
                <code>{id}</code>
              </Cell>
              <Cell of="Name">
                <Shown text={name} most={60} />
              </Cell>
              <Cell of="Created">
                <When at={createdAt} withDate />
              </Cell>
              <Cell of="Revoked">{revokedAt === null ? 'no' : <When at={revokedAt} withDate />}</Cell>
              <Cell of="Act">
                {revokedAt === null ? (
                  <ActForm act="key-revoke" label="Revoke" needs="admin" fields={{ id }} tone="danger">
                    <ConfirmField label="for ever" />
                  </ActForm>
                ) : null}
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      <Pager first={null} next={next} />
      <ActForm act="key-create" label="Create the key" needs="admin">
        <h2>New key</h2>
        <TextField name="name" label="Name, for operators" isOptional />
      </ActForm>
    </>
  )
}
