/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Reads what each page shows. @module */

import { deliveryFilter, FilterError, type Given, givenOf, paymentFilter, positionOf, wholeOf } from './filters.js'
import { findIntegration } from './find-integration.js'
import { jobPage } from './jobs/job-pages.js'
import { latencyStatistics } from './live/overview.js'
import type { Load, PageContent, PageDeps } from './page-types.js'
import { actPages } from './pages/act-pages.js'
import { ChainsPage } from './pages/chains.js'
import { type Choices, DeliveriesPage, PaymentsPage } from './pages/lists.js'
import { EndpointsPage } from './pages/operations.js'
import { OverviewPage } from './pages/overview.js'
import { integrationChoices, integrationsAfter, pageSize } from './pages/part-of.js'
import { PaymentPage } from './pages/payment.js'
import { AuditPage, SettingsPage } from './pages/records.js'
import { comparedOf, readSnapshot, shownVersions } from './pages/snapshots-of.js'
import { search } from './search.js'
import { TestPayment } from './tools/tools-page.js'
import { hrefOf } from './view/parts.js'

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
