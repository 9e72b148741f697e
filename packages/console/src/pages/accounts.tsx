/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Accounts and their acts: who is paid, where, and in which tokens. @module */

import type { AccountInput } from '@payment-integration/core'
import type { AccountRecord } from '@payment-integration/core/ports'
import { FilterError } from '../filters.js'
import { ActForm, ConfirmField, TextArea, TextField } from '../view/forms.js'
import { Cell, Empty, Facts, hrefOf, Pager, Pre, Shown, Table, When } from '../view/parts.js'
import { shownText } from '../view/text.js'
import { type Act, type ActAnswer, type ActInput, confirmedField, requiredField } from './page.js'

/** The path of an account's page, below the base. */
const accountPath = (handle: string) => `/accounts/${encodeURIComponent(handle)}`

/** A configuration to start from. */
const exampleConfig = { coins: [{ chainId: 137, tokens: [{ symbol: 'USDC' }] }] }

/** Accounts by handle. */
export function AccountsPage({ accounts, next }: { accounts: readonly AccountRecord[]; next: string | null }) {
  const titles = ['Handle', 'Address', 'Accepts', 'After a payment', 'Created']
  return (
    <>
      <h1>Accounts</h1>
      {accounts.length === 0 ? (
        <Empty title="There is no account here.">
          <p>An account has a handle, the address that it is paid at, and the tokens that it accepts.</p>
        </Empty>
      ) : (
        <Table label="Accounts" columns={titles.map((title) => ({ title }))}>
          {accounts.map((account) => (
            <tr>
              <Cell of="Handle">
                <a href={hrefOf(accountPath(account.handle), {})}>{account.handle}</a>
              </Cell>
              <Cell of="Address">
                <code class="whole">{account.address}</code>
              </Cell>
              <Cell of="Accepts">
                <Shown text={acceptedOf(account)} />
              </Cell>
              <Cell of="After a payment">{afterOf(account)}</Cell>
              <Cell of="Created">
                <When at={account.createdAt} withDate />
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      <Pager first={null} next={next} />
      <ActForm act="account-create" label="Create the account" needs="admin">
        <h2>New account</h2>
        <TextField name="handle" label="Handle" hint="shop" />
        <TextField name="address" label="Address" hint="0x and 40 hex digits" isLong />
        <TextArea name="config" label="Link configuration, as JSON" value={jsonOf(exampleConfig)} />
      </ActForm>
    </>
  )
}

function acceptedOf({ config }: AccountRecord): string {
  const coins = config.coins.map(
    ({ chainId, tokens }) => `${chainId}: ${tokens.map(({ symbol }) => symbol).join(', ')}`,
  )
  return coins.length === 0 ? 'nothing' : coins.join('; ')
}

function afterOf({ config: { onCompleteAction: action } }: AccountRecord) {
  if (action?.type === 'REDIRECT') return <Shown text={`redirect to ${action.payload.url}`} />
  return action?.type === 'CLOSE_WINDOW' ? `close after ${action.payload.delayMilliseconds / 1_000} s` : 'nothing'
}

const jsonOf = (value: object) => JSON.stringify(value, null, 2)

/** Most characters of a configuration that a page shows. */
const mostShown = 20_000
/** A form takes 64 KB in all. */
const mostEncoded = 60_000

/** One account with its acts. */
export function AccountPage({ account }: { account: AccountRecord }) {
  const { handle, address, createdAt } = account
  const config = shownJson(account.config)
  const isEditable = encodeURIComponent(config).length <= mostEncoded
  return (
    <>
      <h1>Account {handle}</h1>
      <Facts
        rows={[
          ['Address', <code class="whole">{address}</code>, 'wide'],
          ['Accepts', <Shown text={acceptedOf(account)} most={400} />, 'wide'],
          ['After a payment', afterOf(account), 'wide'],
          ['Created', <When at={createdAt} withDate />],
        ]}
      />
      <h2>Link configuration</h2>
      <Pre label="Link configuration" text={shownText(config, mostShown)} />
      <div class="acts stacked">
        <ActForm act="account-change" label="Change the account" needs="admin" fields={{ handle }}>
          <TextField name="address" label="Address" value={address} isLong />
          {isEditable ? (
            <TextArea name="config" label="Link configuration, as JSON" value={config} />
          ) : (
            <p class="dim">The configuration is too large for a form; the command line changes it.</p>
          )}
        </ActForm>
        <ActForm act="account-remove" label="Remove the account" needs="admin" fields={{ handle }} tone="danger">
          <ConfirmField label={`Remove ${handle}: its payments are no longer verified`} />
        </ActForm>
      </div>
    </>
  )
}

/** A configuration whose invisible characters are JSON escapes: the form that holds it gives back the same. */
function shownJson(config: object): string {
  return jsonOf(config).replace(/[^\P{C}\n]/gu, (one) =>
    Array.from({ length: one.length }, (_, n) => `\\u${one.charCodeAt(n).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** The acts, by their names in the address. */
export const accountActs: Readonly<Record<string, Act>> = {
  'account-create': { needs: 'admin', run: create },
  'account-change': { needs: 'admin', run: change },
  'account-remove': { needs: 'admin', run: remove },
}

async function create({ fields, commands }: ActInput): Promise<ActAnswer> {
  const { handle } = await commands.accounts.create({
    handle: requiredField(fields, 'handle'),
    address: requiredField(fields, 'address'),
    config: configField(fields),
  })
  return { to: accountPath(handle), note: 'account-created' }
}

async function change({ fields, commands }: ActInput): Promise<ActAnswer> {
  const change = {
    address: requiredField(fields, 'address'),
    // A large configuration is not in the form.
    ...(fields['config'] === undefined ? {} : { config: configField(fields) }),
  }
  const { handle } = await commands.accounts.change(requiredField(fields, 'handle'), change)
  return { to: accountPath(handle), note: 'account-changed' }
}

async function remove({ fields, commands }: ActInput): Promise<ActAnswer> {
  confirmedField(fields)
  await commands.accounts.remove(requiredField(fields, 'handle'))
  return { to: '/accounts', note: 'account-removed' }
}

/** The core checks the content. The text is never quoted: it may be another document. */
function configField(fields: ActInput['fields']): AccountInput['config'] {
  try {
    return JSON.parse(requiredField(fields, 'config')) as AccountInput['config']
  } catch (error) {
    if (error instanceof FilterError) throw error
    throw new FilterError('The link configuration is not JSON.')
  }
}
