/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Acts on shared identity verifications, and the search by e-mail address. @module */
import { type Identity, ShareRequestError } from '@payment-integration/core/identity'
import { FilterError } from '../filters.js'
import { unclosedWords, unresolvedWords } from '../identity-words.js'
import { ErrorPage } from '../pages/records.js'
import type { Act, ActAnswer, ActInput } from './act.js'
import { confirmedField, requiredField } from './fields.js'

const section = '/identity'
const isOff = () => new FilterError('No identity provider is configured.')

/** The acts, by their names in the address. */
export const identityActs: Readonly<Record<string, Act>> = {
  'identity-search': { needs: 'viewer', run: search },
  'identity-resolve': { needs: 'operator', run: resolve },
  'identity-close': { needs: 'operator', run: close },
}

/** Leads to the keyed hash of an address. It is a posted form, so the address is in no URL and in no log. */
async function search({ fields, service, commands }: ActInput): Promise<ActAnswer> {
  if (service.identity === null) throw isOff()
  const emailKey = await keyOf(service.identity, requiredField(fields, 'email'))
  await commands.recordAct({ action: 'identity.searched', subject: 'all', details: { emailKey } })
  return { to: `${section}?key=${emailKey}`, note: 'email-found' }
}

async function keyOf(identity: Pick<Identity, 'emailKey'>, email: string): Promise<string> {
  try {
    return await identity.emailKey(email)
  } catch (error) {
    // No message quotes what may be an address.
    if (error instanceof ShareRequestError) throw new FilterError('The given text is no e-mail address.')
    throw error
  }
}

/** Without an applicant, the operator's finding is that the redemption created none. */
async function resolve({ fields, commands }: ActInput): Promise<ActAnswer> {
  if (commands.identity === null) throw isOff()
  const finding = requiredField(fields, 'finding')
  if (finding === 'none') confirmedField(fields)
  const applicantId = finding === 'none' ? null : requiredField(fields, 'applicant')
  const externalUserId = requiredField(fields, 'externalUserId')
  const result = await commands.identity.resolveRedemption({ externalUserId, applicantId })
  if (result === 'attached' || result === 'absent' || result === 'surplus')
    return { to: section, note: `redemption-${result}` }
  return nothingDone(unresolvedWords[result])
}

/** With the field `dryRun` it only asks the provider. */
async function close({ fields, commands }: ActInput): Promise<ActAnswer> {
  if (commands.identity === null) throw isOff()
  const what = requiredField(fields, 'what') === 'missing' ? 'missing' : 'hold'
  const dryRun = fields['dryRun'] === 'yes'
  if (!dryRun) confirmedField(fields)
  const result = await commands.identity.closeVerification({
    subjectId: requiredField(fields, 'subject'),
    what,
    dryRun,
  })
  if (result !== 'closed') return nothingDone(unclosedWords[result])
  if (!dryRun) return { to: section, note: `${what}-closed` }
  const title = 'It can be closed'
  const text = 'The provider confirms it. Nothing was changed yet.'
  return { show: { title, section, body: <ErrorPage title={title} text={text} /> } }
}

function nothingDone(text: string): ActAnswer {
  const title = 'Nothing was changed'
  return { show: { title, section, body: <ErrorPage title={title} text={text} /> }, status: 409 }
}
