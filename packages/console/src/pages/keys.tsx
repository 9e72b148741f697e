/** API keys of the legacy endpoints, without their secrets, and their acts. @module */
import { ActForm, TextField } from '../view/forms.js'
import { Badge, Dim, Empty, newSecretsPage, Pager, Shown, Table, When } from '../view/parts.js'
import { actsFor, checkConfirmed, type Load, requiredField, slicePage } from './page.js'

const section = '/keys'

export const keysPage: Load = async ({ service }, query) => {
  const { rows, next } = slicePage(await service.legacyKeys.list(), ({ id }) => id, query, section)
  const body = (
    <>
      <h1>Legacy API keys</h1>
      <Table
        label="Keys"
        rows={rows}
        columns={[
          [
            'State',
            ({ revokedAt }) => (revokedAt === null ? <Badge word="valid" tone="good" /> : <Badge word="revoked" />),
          ],
          ['Id', ({ id }) => <code>{id}</code>],
          ['Name', ({ name }) => <Shown text={name} max={60} />],
          ['Created', ({ createdAt }) => <When at={createdAt} withDate />],
          ['Revoked', ({ revokedAt }) => (revokedAt === null ? <Dim>no</Dim> : <When at={revokedAt} withDate />)],
          [
            'Actions',
            ({ id, revokedAt }) =>
              revokedAt === null ? (
                <ActForm act="key-revoke" label="Revoke" needs="admin" fields={{ id }} confirm="Revoke it forever" />
              ) : null,
          ],
        ]}
        empty={
          <Empty title="No key yet.">
            <p>
              Clients of the legacy API send a key in the Authorization header to look up and verify transactions. New
              integrations do not need one. Create a key below; it is shown once.
            </p>
          </Empty>
        }
      />
      <Pager first={null} next={next} />
      <ActForm act="key-create" label="Create the key" needs="admin">
        <h2>New key</h2>
        <TextField name="name" label="Name, for operators" isOptional />
      </ActForm>
    </>
  )
  return { title: 'Keys', section, body }
}

export const keyActs = actsFor('admin', {
  async 'key-create'({ fields, commands }) {
    const { key, apiKey } = await commands.legacyKeys.create({ name: fields['name'] })
    const instructions = (
      <>
        Its id is <code>{key.id}</code>. If it is lost, revoke it and create another one.
      </>
    )
    const created = { title: 'The key is created', section, secrets: { 'API key': apiKey } }
    return { show: newSecretsPage(created, instructions) }
  },
  async 'key-revoke'({ fields, commands }) {
    checkConfirmed(fields)
    await commands.legacyKeys.revoke(requiredField(fields, 'id'))
    return { to: section, note: 'key-revoked' }
  },
})
