/** Runs a posted form of the portal. @module */
import { type Rejected, runForm } from '../acts/run-form.js'
import { seeOther } from '../session/session-answers.js'
import type { Visit } from '../viewer.js'
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
export function runPortalAct(render: Render, { name, request, visit, tenant }: PostedAct): Promise<Response> {
  const rejected: Rejected = (status, title, text) => render(problemPage(title, text), { visit, status })
  return runForm({
    act: Object.hasOwn(portalActs, name) ? portalActs[name] : undefined,
    request,
    visit,
    rejected,
    async run(act, fields) {
      const answer = await act(tenant, fields)
      return 'show' in answer ? render(answer.show, { visit }) : seeOther(portalHref(answer.to, { note: answer.note }))
    },
  })
}
