/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Checks a posted form and runs its act. @module */
import { FilterError } from '../filters.js'
import { ErrorPage } from '../pages/records.js'
import { base } from '../view/parts.js'
import { mayAct, type Visit } from '../viewer.js'
import { readForm } from '../web/form-body.js'
import type { Render } from '../web/render.js'
import type { ActInput } from './act.js'
import { shownMessage } from './act-error.js'
import { acts } from './acts.js'

/** What acts need. */
export interface ActDeps extends Pick<ActInput, 'service' | 'now' | 'jobs' | 'tools'> {
  readonly render: Render
  /** The origin of the pages where operators sign in: a proxy may have changed that of the request. */
  readonly publicUrl?: string | undefined
}

/**
 * Runs the act of a posted form. The answer leads to a page, or is a page that is shown once. A form without its CSRF
 * token and a role that may not act are answered 403, and nothing is done.
 */
export async function runAct(deps: ActDeps, name: string, request: Request, visit: Visit): Promise<Response> {
  const { render, service, now, jobs, tools, publicUrl } = deps
  const act = Object.hasOwn(acts, name) ? acts[name] : undefined
  const refused = (status: number, title: string, text: string) =>
    render({ title, section: '-', body: <ErrorPage title={title} text={text} /> }, { visit, status })
  if (act === undefined) return refused(404, 'There is no such act', 'The address leads to nothing here.')
  const form = await readForm(request)
  if (form === null) return refused(400, 'Nothing was done', 'The request is no form, or larger than 64 KB.')
  if (!visit.isCsrfToken(form.get('csrf') ?? ''))
    return refused(
      403,
      'Nothing was done',
      'The form is too old or not from these pages. Reload its page, then try again.',
    )
  if (!mayAct(visit.viewer.role, act.needs))
    return refused(403, 'Nothing was done', `This needs the role ${act.needs}; yours is ${visit.viewer.role}.`)
  const fields = Object.fromEntries([...form].map(([key, value]) => [key, value.trim()] as const).filter(isGiven))
  try {
    const { origin } = new URL(publicUrl ?? request.url)
    const commands = service.actingAs(visit.actor)
    const answer = await act.run({ fields, visit, commands, service, jobs, tools, now, origin })
    if ('show' in answer) return await render(answer.show, { visit, status: answer.status })
    return new Response(null, { status: 303, headers: { Location: locationOf(answer.to, answer.note) } })
  } catch (error) {
    const message = shownMessage(error)
    if (message === null) throw error
    return refused(error instanceof FilterError ? 400 : 409, 'Nothing was done', message)
  }
}

const isGiven = ([name, value]: readonly [string, string]) => name !== 'csrf' && value !== ''

function locationOf(to: string, note: string | undefined): string {
  const url = new URL(`${base}${to}`, 'http://pages.invalid')
  if (note !== undefined) url.searchParams.set('note', note)
  return `${url.pathname}${url.search}`
}
