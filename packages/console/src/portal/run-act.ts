/** Checks a posted form of the portal and runs its act. @module */
import { BadRequestError, CoreError, StoreError } from '@payment-integration/core'
import { FilterError } from '../filters.js'
import type { Visit } from '../viewer.js'
import { readForm } from '../web/form-body.js'
import type { Render } from '../web/render.js'
import { portalActs } from './acts.js'
import { portalHref, problemPage } from './links.js'
import type { Tenant } from './tenant.js'

/** A form to run. */
export interface PostedAct {
  readonly name: string
  readonly request: Request
  readonly visit: Visit
  readonly tenant: Tenant
}

/** Runs it. A form without its CSRF token is answered 403, and nothing is done. */
export async function runPortalAct(render: Render, { name, request, visit, tenant }: PostedAct): Promise<Response> {
  const rejected = (status: number, title: string, text: string) => render(problemPage(title, text), { visit, status })
  const act = Object.hasOwn(portalActs, name) ? portalActs[name] : undefined
  if (act === undefined) return rejected(404, 'There is no such act', 'The address leads to nothing here.')
  const form = await readForm(request)
  if (form === null) return rejected(400, 'Nothing was done', 'The request is no form, or larger than 64 KB.')
  if (!visit.isCsrfToken(form.get('csrf') ?? ''))
    return rejected(
      403,
      'Nothing was done',
      'The form is too old or not from these pages. Reload its page, then try again.',
    )
  const fields = Object.fromEntries([...form].map(([key, value]) => [key, value.trim()] as const).filter(isGiven))
  try {
    const answer = await act(tenant, fields)
    if ('show' in answer) return await render(answer.show, { visit })
    return new Response(null, { status: 303, headers: { Location: portalHref(answer.to, { note: answer.note }) } })
  } catch (error) {
    // Other errors are not for people: they may hold addresses of a database or of a node.
    const isMistake = error instanceof BadRequestError || error instanceof FilterError
    if (!isMistake && (!(error instanceof CoreError) || error instanceof StoreError)) throw error
    return rejected(isMistake ? 400 : 409, 'Nothing was done', error.message)
  }
}

const isGiven = ([name, value]: readonly [string, string]) => name !== 'csrf' && value !== ''
