/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** API keys of the legacy endpoints, without their secrets, and their acts. @module */
import type { LegacyKeyView } from '@payment-integration/core'
import { ActForm, ConfirmField, TextField } from '../view/forms.js'
import { Badge, Cell, Empty, NewSecretsPage, Pager, Shown, Table, When } from '../view/parts.js'
import { type Act, confirmedField, requiredField } from './page.js'

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

const section = '/keys'

/** The acts, by their names in the address. */
export const keyActs: Readonly<Record<string, Act>> = {
  'key-create': {
    needs: 'admin',
    async run({ fields, commands }) {
      const { key, apiKey } = await commands.legacyKeys.create({ name: fields['name'] })
      const title = 'The key is created'
      const body = (
        <NewSecretsPage title={title} to={section} secrets={[['API key', apiKey]]}>
          <p>
            Its id is <code>{key.id}</code>. If it is lost, revoke it and create another one.
          </p>
        </NewSecretsPage>
      )
      return { show: { title, section, body } }
    },
  },
  'key-revoke': {
    needs: 'admin',
    async run({ fields, commands }) {
      confirmedField(fields)
      await commands.legacyKeys.revoke(requiredField(fields, 'id'))
      return { to: section, note: 'key-revoked' }
    },
  },
}
