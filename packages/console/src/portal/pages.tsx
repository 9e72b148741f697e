/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Reads what each page of the portal shows. Every read is of the tenant. @module */
import { deliveryFilter, type Given, givenOf, wholeOf } from '../filters.js'
import type { PageContent } from '../page-types.js'
import { comparedOf } from '../pages/snapshots-of.js'
import { EndpointPage } from './pages/endpoint.js'
import { OwnDeliveriesPage, OwnPaymentsPage } from './pages/lists.js'
import { OwnOverviewPage } from './pages/overview.js'
import { OwnPaymentPage } from './pages/payment.js'
import { OwnSecretsPage } from './pages/secrets.js'
import type { Tenant } from './tenant.js'

/** Dependencies of pages. */
export interface PortalPageDeps {
  readonly tenant: Tenant
  readonly now: () => number
  /** The address of the service for people, such as `https://pay.example`. */
  readonly origin: string
}

/** Newest rows on the overview. */
const mostNewest = 5

type Load = (deps: PortalPageDeps, given: Given) => Promise<PageContent>

const pages: Readonly<Record<string, Load>> = {
  '': overviewPage,
  '/payments': paymentsPage,
  '/deliveries': deliveriesPage,
  '/endpoint': async (deps) => ({
    title: 'Endpoint',
    section: '/endpoint',
    body: <EndpointPage {...(await endpointOf(deps))} />,
  }),
  '/secrets': async ({ tenant }) => ({
    title: 'Secrets',
    section: '/secrets',
    body: <OwnSecretsPage integration={await tenant.integration()} />,
  }),
}

/**
 * Reads a page; null: there is none at the path.
 * @throws FilterError, BadRequestError For a malformed filter.
 */
export async function loadPortalPage(path: string, url: URL, deps: PortalPageDeps): Promise<PageContent | null> {
  const given = givenOf(url)
  const load = Object.hasOwn(pages, path) ? pages[path] : undefined
  if (load !== undefined) return load(deps, given)
  const named = /^\/payments\/(\d{1,15})\/(0x[0-9a-f]{64})$/i.exec(path)
  return named === null ? null : paymentPage(deps, given, Number(named[1]), (named[2] ?? '').toLowerCase())
}

async function endpointOf({ tenant, now }: PortalPageDeps) {
  const [integration, health, lastFailure] = await Promise.all([
    tenant.integration(),
    tenant.health(),
    tenant.lastFailure(),
  ])
  return { integration, health, lastFailure, now: now() }
}

const placeOf = ({ tenant, origin }: PortalPageDeps) => ({ origin, address: tenant.address })

async function overviewPage(deps: PortalPageDeps): Promise<PageContent> {
  const { tenant } = deps
  const [endpoint, { payments }, deliveries] = await Promise.all([
    endpointOf(deps),
    tenant.payments({ limit: String(mostNewest) }),
    tenant.deliveries({}),
  ])
  const newest = deliveries.rows.slice(0, mostNewest)
  const body = <OwnOverviewPage {...endpoint} payments={payments} deliveries={newest} place={placeOf(deps)} />
  return { title: 'Overview', section: '', body }
}

async function paymentsPage(deps: PortalPageDeps, { wallet, cursor }: Given): Promise<PageContent> {
  const page = await deps.tenant.payments({ wallet, cursor })
  const given = { ...(wallet === undefined ? {} : { wallet }), ...(cursor === undefined ? {} : { cursor }) }
  const body = <OwnPaymentsPage given={given} page={page} place={placeOf(deps)} />
  return { title: 'Payments', section: '/payments', body }
}

async function deliveriesPage({ tenant }: PortalPageDeps, all: Given): Promise<PageContent> {
  const known = ['hash', 'status', 'before']
  const { before, ...filter } = Object.fromEntries(Object.entries(all).filter(([name]) => known.includes(name)))
  const beforeId = before === undefined ? undefined : String(wholeOf('before', before))
  const page = await tenant.deliveries({ ...deliveryFilter(filter), beforeId })
  const given = { ...filter, ...(before === undefined ? {} : { before }) }
  return { title: 'Deliveries', section: '/deliveries', body: <OwnDeliveriesPage given={given} page={page} /> }
}

async function paymentPage(deps: PortalPageDeps, given: Given, chainId: number, txHash: string) {
  const compare = comparedOf(given)
  const found = await deps.tenant.payment(chainId, txHash, compare)
  if (found === null) return null
  const body = <OwnPaymentPage {...found} compare={compare} now={deps.now()} />
  return { title: `Payment ${txHash.slice(0, 10)}`, section: '/payments', body }
}
