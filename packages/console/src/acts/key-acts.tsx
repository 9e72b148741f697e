/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Acts on API keys of the legacy endpoints. @module */
import { NewSecretsPage } from '../pages/secrets.js'
import type { Act } from './act.js'
import { confirmedField, requiredField } from './fields.js'

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
