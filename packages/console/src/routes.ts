/** Maps paths to the pages and acts of the console, and runs posted acts. @module */
import { parseQuery } from './filters.js'
import { accountActs, accountPage, accountsPage } from './pages/accounts.js'
import { auditActs, auditPage } from './pages/audit.js'
import { chainActs, chainsPage } from './pages/chains.js'
import { deliveriesPage, deliveryActs, replayPage } from './pages/deliveries.js'
import { endpointsPage } from './pages/endpoints.js'
import { identityActs, identityPage } from './pages/identity.js'
import { integrationActs, integrationPage, integrationsPage } from './pages/integrations.js'
import { jobActs, jobPage, jobsPage } from './pages/jobs.js'
import { keyActs, keysPage } from './pages/keys.js'
import { legacyPage } from './pages/legacy.js'
import { operatorActs, operatorsPage } from './pages/operators.js'
import { overviewPage } from './pages/overview.js'
import type { ActInput, Acts, Goto, Load, PageContent, PageDeps } from './pages/page.js'
import { paymentPage } from './pages/payment.js'
import { paymentsPage } from './pages/payments.js'
import { settingsPage } from './pages/settings.js'
import { toolActs, toolsPage } from './pages/tools.js'
import type { Render } from './view/layout.js'
import { base, sentencePage } from './view/parts.js'
import { replayPath } from './view/rows.js'
import { isAllowed, type Visit } from './viewer.js'
import { runForm } from './web/run-form.js'
import { seeOther } from './web/sessions.js'

const pages: Readonly<Record<string, Load>> = {
  '': overviewPage,
  '/payments': paymentsPage,
  '/deliveries': deliveriesPage,
  [replayPath]: replayPage,
  '/endpoints': endpointsPage,
  '/chains': chainsPage,
  '/legacy': legacyPage,
  '/identity': identityPage,
  '/integrations': integrationsPage,
  '/accounts': accountsPage,
  '/keys': keysPage,
  '/operators': operatorsPage,
  '/audit': auditPage,
  '/jobs': jobsPage,
  '/tools': toolsPage,
  '/settings': settingsPage,
}

const entityPages: Readonly<Record<string, Load>> = {
  '/payments': paymentPage,
  '/integrations': integrationPage,
  '/accounts': accountPage,
  '/jobs': jobPage,
}

/** Loads the page at a path; null: none. @throws FilterError For a malformed filter. */
export async function loadPage(path: string, deps: PageDeps): Promise<PageContent | Goto | null> {
  const [, section = '', name = ''] = /^(\/[a-z]+)\/(.+)$/.exec(path) ?? []
  const load = Object.hasOwn(pages, path) ? pages[path] : entityPages[section]
  return load?.(deps, parseQuery(deps.url), name) ?? null
}

export const acts: Acts = {
  ...deliveryActs,
  ...integrationActs,
  ...accountActs,
  ...keyActs,
  ...operatorActs,
  ...identityActs,
  ...chainActs,
  ...auditActs,
  ...jobActs,
  ...toolActs,
}

interface ActDeps extends Pick<ActInput, 'service' | 'clock' | 'jobs' | 'tools' | 'hasOidc'> {
  readonly render: Render
  /** The origin of the pages where operators sign in; a proxy may have changed the origin of the request. */
  readonly publicUrl?: string | undefined
}

/**
 * Runs the act of a posted form. The answer redirects to a page, or is itself a page, shown once. A form without its
 * CSRF token, or a role that may not act, is answered 403 and nothing is done.
 */
export function runAct({ render, publicUrl, ...deps }: ActDeps, name: string, request: Request, visit: Visit) {
  const rejected = (status: number, title: string, text: string) => render(sentencePage(title, text), { visit, status })
  return runForm({ acts, name, request, visit, rejected }, async (act, fields) => {
    if (!isAllowed(visit.viewer.role, act.needs))
      return rejected(403, 'Nothing was done', `This needs the role ${act.needs}; yours is ${visit.viewer.role}.`)
    const { origin } = new URL(publicUrl ?? request.url)
    const commands = deps.service.actingAs(visit.actor)
    const answer = await act.run({ ...deps, fields, visit, commands, origin })
    if ('show' in answer) return render(answer.show, { visit, status: answer.status })
    const to = new URL(`${base}${answer.to}`, 'http://pages.invalid')
    if (answer.note !== undefined) to.searchParams.set('note', answer.note)
    return seeOther(`${to.pathname}${to.search}`)
  })
}
