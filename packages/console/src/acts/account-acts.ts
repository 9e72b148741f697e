/** Acts on accounts. @module */
import type { AccountInput } from '@payment-integration/core'
import { FilterError } from '../filters.js'
import { accountPath } from '../pages/accounts.js'
import type { Act, ActAnswer, ActInput } from './act.js'
import { confirmedField, requiredField } from './fields.js'

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
