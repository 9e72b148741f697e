/** Accounts and their acts: who is paid, where, and in which tokens. @module */
import type { AccountInput, AccountRecord } from '@payment-integration/core/internal'
import { FilterError } from '../filters.js'
import { ActForm, TextField } from '../view/forms.js'
import { buildHref, Empty, Facts, Hex, Pager, Pre, Shown, Table, When } from '../view/parts.js'
import { nameChain, showText } from '../view/text.js'
import { type ActInput, actsFor, checkConfirmed, type Load, requiredField, slicePage } from './page.js'

const section = '/accounts'
const accountPath = (handle: string) => `${section}/${encodeURIComponent(handle)}`

const exampleConfig = { coins: [{ chainId: 137, tokens: [{ symbol: 'USDC' }] }] }

export const accountsPage: Load = async ({ service }, query) => {
  const { rows, next } = slicePage(await service.accounts.list(), ({ handle }) => handle, query, section)
  const body = (
    <>
      <h1>Accounts</h1>
      <Table
        label="Accounts"
        rows={rows}
        columns={[
          ['Handle', ({ handle }) => <a href={buildHref(accountPath(handle))}>{handle}</a>],
          ['Address', ({ address }) => <Hex value={address} />],
          ['Accepts', (account) => <Shown text={describeAccepted(account)} />],
          ['After a payment', describeAfterPayment],
          ['Created', ({ createdAt }) => <When at={createdAt} withDate />],
        ]}
        empty={
          <Empty title="No account yet.">
            <p>
              An account is who gets paid by a payment link: a handle, a receiving address and the accepted tokens.
              Create one below; people can then pay it by its handle.
            </p>
          </Empty>
        }
      />
      <Pager first={null} next={next} />
      <ActForm act="account-create" label="Create the account" needs="admin">
        <h2>New account</h2>
        <TextField name="handle" label="Handle" hint="shop" />
        <TextField name="address" label="Address" hint="0x and 40 hex digits" isLong />
        <TextField name="config" label="Link configuration, as JSON" value={formatJson(exampleConfig)} rows={12} />
      </ActForm>
    </>
  )
  return { title: 'Accounts', section, body }
}

function describeAccepted({ config }: AccountRecord): string {
  const coins = config.coins.map(
    ({ chainId, tokens }) => `${nameChain(chainId)}: ${tokens.map(({ symbol }) => symbol).join(', ')}`,
  )
  return coins.length === 0 ? 'nothing' : coins.join('; ')
}

function describeAfterPayment({ config: { onCompleteAction: action } }: AccountRecord) {
  if (action?.type === 'REDIRECT') return <Shown text={`redirect to ${action.payload.url}`} />
  return action?.type === 'CLOSE_WINDOW' ? `close after ${action.payload.delayMilliseconds / 1_000} s` : 'nothing'
}

const formatJson = (value: object) => JSON.stringify(value, null, 2)

const maxShown = 20_000
/** The most bytes of an encoded configuration: a whole form may have 64 KB. */
const maxEncodedBytes = 60_000

export const accountPage: Load = async ({ service }, _, name) => {
  const account = await service.queries.account(name.toLowerCase())
  if (account === null) return null
  const { handle, address, createdAt } = account
  const config = formatEditableJson(account.config)
  const body = (
    <>
      <h1>Account {handle}</h1>
      <Facts
        rows={[
          ['Address', <Hex value={address} isWhole />, 'wide'],
          ['Accepts', <Shown text={describeAccepted(account)} max={400} />, 'wide'],
          ['After a payment', describeAfterPayment(account), 'wide'],
          ['Created', <When at={createdAt} withDate />, 'wide'],
        ]}
      />
      <details>
        <summary>Link configuration</summary>
        <Pre label="Link configuration" text={showText(config, maxShown)} />
      </details>
      <div class="acts stacked">
        <ActForm act="account-change" label="Save the account" needs="admin" fields={{ handle }}>
          <h2>Change the account</h2>
          <TextField name="address" label="Address" value={address} isLong />
          {encodeURIComponent(config).length <= maxEncodedBytes ? (
            <TextField name="config" label="Link configuration, as JSON" value={config} rows={12} />
          ) : (
            <p class="dim">The configuration is too large for a form; the command line changes it.</p>
          )}
        </ActForm>
        <ActForm
          act="account-remove"
          label="Remove the account"
          needs="admin"
          fields={{ handle }}
          confirm={`Remove ${handle}: its payments are no longer verified`}
        />
      </div>
    </>
  )
  return { title: 'Account', section, body }
}

/** Formats a configuration with JSON escapes for invisible characters, so that a form sends it back unchanged. */
function formatEditableJson(config: object): string {
  return formatJson(config).replace(/[^\P{C}\n]/gu, (one) =>
    Array.from({ length: one.length }, (_, n) => `\\u${one.charCodeAt(n).toString(16).padStart(4, '0')}`).join(''),
  )
}

export const accountActs = actsFor('admin', {
  async 'account-create'({ fields, commands }) {
    const { handle } = await commands.accounts.create({
      handle: requiredField(fields, 'handle'),
      address: requiredField(fields, 'address'),
      config: configField(fields),
    })
    return { to: accountPath(handle), note: 'account-created' }
  },
  async 'account-change'({ fields, commands }) {
    const change = {
      address: requiredField(fields, 'address'),
      // A form cannot hold a large configuration.
      ...(fields['config'] === undefined ? {} : { config: configField(fields) }),
    }
    const { handle } = await commands.accounts.change(requiredField(fields, 'handle'), change)
    return { to: accountPath(handle), note: 'account-changed' }
  },
  async 'account-remove'({ fields, commands }) {
    checkConfirmed(fields)
    await commands.accounts.remove(requiredField(fields, 'handle'))
    return { to: section, note: 'account-removed' }
  },
})

/** Parses a configuration; the core checks the content. Errors never quote the text, which may be another document. */
function configField(fields: ActInput['fields']): AccountInput['config'] {
  const text = requiredField(fields, 'config')
  try {
    return JSON.parse(text) as AccountInput['config']
  } catch {
    throw new FilterError('The link configuration is not JSON.')
  }
}
