/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Checks a posted form and runs its act. @module */
import { ErrorPage } from '../pages/records.js'
import { seeOther } from '../session/session-answers.js'
import { base } from '../view/parts.js'
import { mayAct, type Visit } from '../viewer.js'
import type { Render } from '../web/render.js'
import type { ActInput } from './act.js'
import { acts } from './acts.js'
import { type Rejected, runForm } from './run-form.js'

/** Dependencies of acts. */
export interface ActDeps extends Pick<ActInput, 'service' | 'now' | 'jobs' | 'tools' | 'hasOidc'> {
  readonly render: Render
  /** The origin of the pages where operators sign in: a proxy may have changed that of the request. */
  readonly publicUrl?: string | undefined
}

/**
 * Runs the act of a posted form. The answer leads to a page, or is a page that is shown once. A form without its CSRF
 * token and a role that may not act are answered 403, and nothing is done.
 */
export function runAct(deps: ActDeps, name: string, request: Request, visit: Visit): Promise<Response> {
  const { render, service, now, jobs, tools, hasOidc, publicUrl } = deps
  const rejected: Rejected = (status, title, text) =>
    render({ title, section: '-', body: <ErrorPage title={title} text={text} /> }, { visit, status })
  return runForm({
    act: Object.hasOwn(acts, name) ? acts[name] : undefined,
    request,
    visit,
    rejected,
    async run(act, fields) {
      if (!mayAct(visit.viewer.role, act.needs))
        return rejected(403, 'Nothing was done', `This needs the role ${act.needs}; yours is ${visit.viewer.role}.`)
      const { origin } = new URL(publicUrl ?? request.url)
      const commands = service.actingAs(visit.actor)
      const answer = await act.run({ fields, visit, commands, service, jobs, tools, now, hasOidc, origin })
      return 'show' in answer
        ? render(answer.show, { visit, status: answer.status })
        : seeOther(locationOf(answer.to, answer.note))
    },
  })
}

function locationOf(to: string, note: string | undefined): string {
  const url = new URL(`${base}${to}`, 'http://pages.invalid')
  if (note !== undefined) url.searchParams.set('note', note)
  return `${url.pathname}${url.search}`
}
