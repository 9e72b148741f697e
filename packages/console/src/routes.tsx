/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The pages and the acts of the console by their paths, and how a posted act runs. @module */

import type { Service } from '@payment-integration/core'
import { deliveryFilter, FilterError, type Given, givenOf, paymentFilter, positionOf, wholeOf } from './filters.js'
import { latencyStatistics } from './live/overview.js'
import { AccountPage, AccountsPage, accountActs } from './pages/accounts.js'
import { AuditPage, ErrorPage, SettingsPage, verifyAuditAct } from './pages/audit.js'
import { ChainsPage, reindexAct } from './pages/chains.js'
import { mostCounted, ReplayManyPage, replayManyAct } from './pages/deliveries.js'
import { EndpointsPage } from './pages/endpoints.js'
import { explainAct } from './pages/explain.js'
import { IdentityPage, identityActs } from './pages/identity.js'
import { IntegrationPage, IntegrationsPage, integrationActs } from './pages/integrations.js'
import { jobPage, stopJobAct } from './pages/jobs.js'
import { keyActs, LegacyKeysPage } from './pages/keys.js'
import { LegacyPage, legacyAnswer } from './pages/legacy.js'
import { OperatorsPage, operatorActs } from './pages/operators.js'
import { OverviewPage } from './pages/overview.js'
import {
  type Act,
  type ActInput,
  findIntegration,
  integrationChoices,
  integrationsAfter,
  type Load,
  type PageContent,
  type PageDeps,
  pageSize,
} from './pages/page.js'
import { PaymentPage, replayAct } from './pages/payment.js'
import { type Choices, DeliveriesPage, PaymentsPage, search } from './pages/payments.js'
import { comparedOf, readSnapshot, shownVersions } from './pages/snapshots.js'
import { doctorAct, TestPayment, ToolsPage, triggerAct } from './pages/tools.js'
import { hasTools } from './tools.js'
import type { Render } from './view/layout.js'
import { base, hrefOf } from './view/parts.js'
import { mayAct, type Visit } from './viewer.js'
import { type Rejected, runForm } from './web/run-form.js'
import { seeOther } from './web/sessions.js'

/** All acts. */
export const acts: Readonly<Record<string, Act>> = {
  replay: replayAct,
  ...integrationActs,
  ...accountActs,
  ...keyActs,
  ...operatorActs,
  ...identityActs,
  'replay-many': replayManyAct,
  reindex: reindexAct,
  'verify-audit': verifyAuditAct,
  'stop-job': stopJobAct,
  trigger: triggerAct,
  doctor: doctorAct,
  explain: explainAct,
}

/** Dependencies of acts. */
interface ActDeps extends Pick<ActInput, 'service' | 'now' | 'jobs' | 'tools' | 'hasOidc'> {
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

/** The pages, by their paths below the base. */
const actPages: Readonly<Record<string, Load>> = {
  async '/deliveries/replay'({ service, role }, given) {
    const { status, ...filter } = deliveryFilter(given)
    if (status === undefined) throw new FilterError('Choose a status first: many deliveries are replayed by status.')
    // Only for those who may go on.
    const count = mayAct(role, 'operator')
      ? await service.queries.countDeliveries({ ...filter, status }, { atMost: mostCounted + 1 })
      : null
    const body = <ReplayManyPage given={given} filter={{ ...filter, status }} count={count} />
    return { title: 'Replay deliveries', section: '/deliveries', body }
  },
  async '/tools'({ service, tools, now }) {
    if (!hasTools(tools)) return null
    const integrations = await integrationChoices(service.queries)
    const body = <ToolsPage tools={tools} integrations={integrations} now={now()} />
    return { title: 'Tools', section: '/tools', body }
  },
}

const mostUpdates = 200
const mostRanges = 200
/** Endpoints on a page: two reads for each. */
const mostEndpoints = 20

const pages: Readonly<Record<string, Load>> = {
  ...actPages,
  '': overviewPage,
  '/payments': paymentsPage,
  '/deliveries': deliveriesPage,
  '/endpoints': endpointsPage,
  '/chains': chainsPage,
  '/audit': auditPage,
  '/settings': async ({ settings }) => ({
    title: 'Settings',
    section: '/settings',
    body: <SettingsPage settings={settings ?? []} />,
  }),
}

/** Reads a page; null: there is none at the path. @throws FilterError For a malformed filter. */
export async function loadPage(path: string, deps: PageDeps): Promise<PageContent | null> {
  const given = givenOf(deps.url)
  const load = Object.hasOwn(pages, path) ? pages[path] : undefined
  if (load !== undefined) return load(deps, given)
  if (path.startsWith('/jobs')) return jobPage(deps.jobs, path, deps.now())
  const named = /^\/payments\/(\d{1,15})\/(0x[0-9a-f]{64})$/i.exec(path)
  return named === null ? null : paymentPage(deps, given, Number(named[1]), (named[2] ?? '').toLowerCase())
}

async function overviewPage({ service, sampler, url, tools }: PageDeps): Promise<PageContent> {
  const [overview, newest] = await Promise.all([sampler.overview(), service.queries.newest(1)])
  const isEmpty = newest.payments.length === 0
  const [integration] = isEmpty ? await service.queries.integrations({ limit: 1 }) : []
  const test = <TestPayment tools={tools} integration={integration} />
  const body = <OverviewPage {...{ overview, isEmpty, test }} origin={url.origin} />
  return { title: 'Overview', section: '', body, live: 'topic=overview' }
}

async function paymentsPage(deps: PageDeps, given: Given): Promise<PageContent> {
  const reads = deps.service.queries
  const filter = paymentFilter(given)
  const before = positionOf(given['before'])
  const text = given['q']
  const found = text === undefined ? null : await search(reads, text, filter, pageSize)
  const page =
    found === null
      ? await reads.payments({ ...filter, before, limit: pageSize })
      : { rows: found.payments, next: null, isCut: false }
  const body = <PaymentsPage given={given} choices={await choicesOf(deps)} page={page} found={found} />
  const isLive = before === undefined && found === null
  return { title: 'Payments', section: '/payments', body, ...(isLive ? { live: topicOf('payments', given) } : {}) }
}

async function deliveriesPage(deps: PageDeps, given: Given): Promise<PageContent> {
  const filter = deliveryFilter(given)
  const beforeId = given['before'] === undefined ? undefined : String(wholeOf('before', given['before']))
  const page = await deps.service.queries.deliveries({ ...filter, beforeId, limit: pageSize })
  const body = <DeliveriesPage given={given} choices={await choicesOf(deps)} page={page} />
  const isLive = beforeId === undefined
  return {
    title: 'Deliveries',
    section: '/deliveries',
    body,
    ...(isLive ? { live: topicOf('deliveries', given) } : {}),
  }
}

async function paymentPage(deps: PageDeps, given: Given, chainId: number, txHash: string): Promise<PageContent | null> {
  const { queries, integrations } = deps.service
  const payments = await queries.transaction({ chainId, txHash })
  const payment = payments.find((each) => each.primary) ?? payments[0]
  if (payment === undefined) return null
  const { integrationAddress: address } = payment
  const compare = comparedOf(given)
  const [snapshots, integration, updates, deliveries] = await Promise.all([
    queries.snapshots(payment.id, shownVersions(payment, compare)),
    address === null ? null : findIntegration(integrations, address),
    queries.updates({ paymentIds: payments.map(({ id }) => id), limit: mostUpdates }),
    queries.deliveriesOf(payment.id),
  ])
  const others = payments.filter((each) => each !== payment)
  const indexer = deps.service.indexers.find((each) => each.chainId === chainId)
  const nativeHash = indexer?.nativeHash(txHash) ?? null
  const detail = {
    payment,
    others,
    snapshots: snapshots.map(readSnapshot),
    updates,
    deliveries,
    compare,
    nativeHash,
    now: deps.now(),
  }
  const body = <PaymentPage {...detail} notificationUrl={integration?.notificationUrl ?? null} />
  const live = topicOf('payment', { chain: String(chainId), hash: txHash })
  return { title: `Payment ${txHash.slice(0, 10)}`, section: '/payments', body, live }
}

async function endpointsPage({ service, now }: PageDeps, given: Given): Promise<PageContent> {
  const reads = service.queries
  const isFailing = given['health'] === 'failing'
  const { shown, next } = await integrationsAfter(reads, given, '/endpoints', { size: mostEndpoints, isFailing })
  const endpoints = await Promise.all(
    shown.map(async (integration) => {
      const { address } = integration
      const [lastFailure, latencies] = await Promise.all([reads.lastFailure(address), reads.latencies(address)])
      return { integration, lastFailure, latency: latencyStatistics(latencies) }
    }),
  )
  const body = <EndpointsPage given={given} endpoints={endpoints} now={now()} next={next} />
  return { title: 'Endpoints', section: '/endpoints', body }
}

async function chainsPage({ service }: PageDeps): Promise<PageContent> {
  const chains = await Promise.all(
    service.indexers.map(async (indexer) => ({
      status: indexer.status(),
      proofs: await service.queries.proofs(indexer.chainId, mostRanges),
      coverage: await service.queries.coverage(indexer.chainId),
    })),
  )
  return { title: 'Chains', section: '/chains', body: <ChainsPage chains={chains} />, live: 'topic=chains' }
}

async function auditPage({ service }: PageDeps, given: Given): Promise<PageContent> {
  const beforeSeq = given['before'] === undefined ? undefined : wholeOf('before', given['before'])
  if (beforeSeq === 0) throw new FilterError('before is 0; the first record has number 1.')
  const records = await service.queries.audit({ beforeSeq, limit: pageSize + 1 })
  const shown = records.slice(0, pageSize)
  const next = records.length > pageSize ? hrefOf('/audit', { before: shown.at(-1)?.seq }) : null
  const body = <AuditPage records={shown} isFirst={beforeSeq === undefined} next={next} />
  return { title: 'Audit log', section: '/audit', body }
}

async function choicesOf({ service, url, tools }: PageDeps): Promise<Choices> {
  const integrations = await integrationChoices(service.queries)
  return {
    chainIds: service.indexers.map(({ chainId }) => chainId),
    integrations: integrations.map(({ address, name }) => ({ address, name })),
    origin: url.origin,
    tools,
  }
}

const topicOf = (topic: string, given: Given) => new URLSearchParams({ ...given, topic }).toString()

/** Dependencies of these pages. */
interface AdminDeps {
  readonly service: AdminService
  readonly now: () => number
  /** Absent: nobody signs in, so there are no operators. */
  readonly signIn?: object | undefined
}

/** The parts of the service that these pages read from. */
export type AdminService = Pick<
  Service,
  'queries' | 'integrations' | 'identity' | 'legacy' | 'accounts' | 'legacyKeys' | 'operators'
>

/** Subjects, and redemptions, that are looked through for a decision that waits. */
const mostRead = 1_000

/** Reads a page; null: there is none at the path. @throws FilterError For a malformed filter. */
export async function loadAdminPage(path: string, deps: AdminDeps, given: Given): Promise<PageContent | null> {
  const [, section = '', name] = /^\/([a-z]+)(?:\/([^/]+))?$/.exec(path) ?? []
  const load = Object.hasOwn(sections, section) ? sections[section] : undefined
  return load === undefined ? null : load(deps, given, name)
}

type AdminLoad = (deps: AdminDeps, given: Given, name: string | undefined) => Promise<PageContent | null>

const sections: Readonly<Record<string, AdminLoad>> = {
  integrations: integrationsPage,
  accounts: accountsPage,
  keys: keysPage,
  operators: operatorsPage,
  identity: identityPage,
  legacy: legacyPage,
}

async function integrationsPage({ service, now }: AdminDeps, given: Given, name?: string) {
  const section = '/integrations'
  if (name !== undefined) {
    const one = await findIntegration(service.integrations, name)
    return one === null ? null : { title: 'Integration', section, body: <IntegrationPage one={one} /> }
  }
  const { shown, next } = await integrationsAfter(service.queries, given, section)
  return { title: 'Integrations', section, body: <IntegrationsPage integrations={shown} next={next} now={now()} /> }
}

async function accountsPage({ service }: AdminDeps, given: Given, name?: string) {
  const section = '/accounts'
  if (name !== undefined) {
    const account = await service.queries.account(name.toLowerCase())
    return account === null ? null : { title: 'Account', section, body: <AccountPage account={account} /> }
  }
  const { shown, next } = partOf(await service.accounts.list(), ({ handle }) => handle, given, section)
  return { title: 'Accounts', section, body: <AccountsPage accounts={shown} next={next} /> }
}

async function keysPage({ service }: AdminDeps, given: Given, name?: string) {
  if (name !== undefined) return null
  const { shown, next } = partOf(await service.legacyKeys.list(), ({ id }) => id, given, '/keys')
  return { title: 'Keys', section: '/keys', body: <LegacyKeysPage keys={shown} next={next} /> }
}

async function operatorsPage({ service, signIn, now }: AdminDeps, given: Given, name?: string) {
  if (signIn === undefined || name !== undefined) return null
  const { shown, next } = partOf(await service.operators.list(), (one) => one.name, given, '/operators')
  const body = <OperatorsPage operators={shown} now={now()} next={next} />
  return { title: 'Operators', section: '/operators', body }
}

async function identityPage({ service: { identity } }: AdminDeps, given: Given, name?: string) {
  if (identity === null || name !== undefined) return null
  const { key, after } = given
  if (key !== undefined && !/^[0-9a-f]{64}$/i.test(key)) throw new FilterError('key is not 64 hex digits.')
  const emailKey = key?.toLowerCase()
  const [subjects, redemptions, verdicts] = await Promise.all([
    identity.subjects({ emailKey, afterId: after, limit: mostRead }),
    identity.redemptions({ emailKey, limit: mostRead }),
    identity.verdicts({ emailKey, limit: pageSize }),
  ])
  const view = { given, subjects, redemptions, verdicts, pageSize, mostRead, next: nextSubjects(subjects, key) }
  return { title: 'Identity', section: '/identity', body: <IdentityPage {...view} /> }
}

function nextSubjects(subjects: readonly { readonly id: string }[], key: string | undefined): string | null {
  return subjects.length > pageSize ? hrefOf('/identity', { key, after: subjects[pageSize - 1]?.id }) : null
}

async function legacyPage({ service }: AdminDeps, given: Given, name?: string) {
  if (name !== undefined) return null
  const body = <LegacyPage given={given} answer={await legacyAnswer(service.legacy, given)} />
  return { title: 'Legacy API', section: '/legacy', body }
}

/** The rows after the one that `after` names, in the order of the list; from the first row when it names none. */
function partOf<Row>(all: readonly Row[], keyOf: (row: Row) => string, given: Given, path: string) {
  const rest = all.slice(all.findIndex((row) => keyOf(row) === given['after']) + 1)
  const shown = rest.slice(0, pageSize)
  const last = shown.at(-1)
  const next = rest.length > pageSize && last !== undefined ? hrefOf(path, { after: keyOf(last) }) : null
  return { shown, next }
}
