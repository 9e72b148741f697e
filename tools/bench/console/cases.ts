/** Lists the pages of the console that are measured, with the filters that matter. @module */
import {
  chainAt,
  hotWallet,
  integrationAt,
  integrationCount,
  newest,
  senderAt,
  sourceHashAt,
  timestampAt,
  txHashAt,
  versions,
  withSource,
} from './dataset.js'

/** A page, whose address differs with each request. */
export interface Case {
  /** Group of rows in the table. */
  readonly section: 'Overview' | 'Payments' | 'Search' | 'Deliveries' | 'Others' | 'Portal'
  readonly name: string
  /** The address below `/console`; of the portal below `/portal`, for {@link portalOf}. @param id - A payment. */
  path(id: number): string
}

const [big, small, rare] = [integrationAt(0), integrationAt(7), integrationAt(integrationCount - 1)]
/** The integration that is signed in to the portal. */
export const portalOf = big

const hourMs = 3_600_000

/** All cases for so many payments. */
export function casesFor(payments: number): readonly Case[] {
  const at = (id: number) => timestampAt(id, payments)
  const below = (id: number) => `before=${at(id)}.${id}`
  const hour = (id: number) => `since=${at(id)}&until=${at(id) + hourMs}`
  const belowDelivery = (id: number) => `before=${id * versions}`
  const payment = (id: number) => `/payments/${chainAt(id)}/${txHashAt(id)}`
  const of =
    (section: Case['section'], page: string) =>
    (name: string, query: string | ((id: number) => string)): Case => ({
      section,
      name,
      path: (id) => `${page}?${typeof query === 'string' ? query : query(id)}`,
    })
  const [listed, found, sent] = [
    of('Payments', '/payments'),
    of('Search', '/payments'),
    of('Deliveries', '/deliveries'),
  ]
  const other = (name: string, path: (id: number) => string): Case => ({ section: 'Others', name, path })
  const own = (name: string, path: (id: number) => string): Case => ({ section: 'Portal', name, path })
  const memo = (id: number) => `order ${String(id).padStart(8, '0')}`
  const query = (text: string) => `q=${encodeURIComponent(text)}`
  return [
    { section: 'Overview', name: 'the whole hour', path: () => '' },
    { section: 'Overview', name: 'a second later', path: () => '' },
    listed('newest', ''),
    listed('at any depth', below),
    listed('a rare state', 'state=failure'),
    listed('a rare state, at any depth', (id) => `state=pending&${below(id)}`),
    listed('a state without payments', 'state=refund_success'),
    listed('the usual state, at any depth', (id) => `state=success&${below(id)}`),
    listed('no state', 'state=none'),
    listed('a chain', 'chain=10'),
    listed('a rare chain, at any depth', (id) => `chain=5&${below(id)}`),
    listed('a rare chain and a rare state', 'chain=5&state=failure'),
    listed('a large integration, at any depth', (id) => `integration=${big}&${below(id)}`),
    listed('a rare integration', `integration=${rare}`),
    listed('no integration, at any depth', (id) => `integration=none&${below(id)}`),
    listed('a large integration and a rare state', `integration=${big}&state=failure`),
    listed('a large integration and a rare chain', (id) => `integration=${big}&chain=5&${below(id)}`),
    listed('an hour', hour),
    listed('an hour and a rare state', (id) => `state=failure&${hour(id)}`),
    listed('an hour, a chain and an integration', (id) => `chain=137&integration=${big}&${hour(id)}`),
    found('hash', (id) => `q=${txHashAt(id)}`),
    found('hash of a source', (id) => `q=${sourceHashAt(withSource(id))}`),
    found('unknown hash', (id) => `q=${txHashAt(id).slice(0, 60)}ffffff`),
    found('wallet', (id) => `q=${senderAt(id)}`),
    found('wallet of all integrations', `q=${hotWallet}`),
    found('wallet within an integration', `q=${hotWallet}&integration=${small}`),
    found('memo', (id) => query(memo(id))),
    found('memo of a million payments', query('order ')),
    found('invoice', (id) => query(`${id % 9_973}.50 EUR`)),
    found('invoice, no such amount', query('99999.99')),
    found('invoice within a large integration', (id) => `${query(`${id % 9_973}.50`)}&integration=${big}`),
    sent('newest', ''),
    sent('at any depth', belowDelivery),
    sent('pending', 'status=pending'),
    sent('delivered, at any depth', (id) => `status=delivered&${belowDelivery(id)}`),
    sent('exhausted', 'status=exhausted'),
    sent('superseded, at any depth', (id) => `status=superseded&${belowDelivery(id)}`),
    sent('a rare chain, at any depth', (id) => `chain=5&${belowDelivery(id)}`),
    sent('a large integration, at any depth', (id) => `integration=${big}&${belowDelivery(id)}`),
    sent('a rare integration', `integration=${rare}`),
    sent('a rare integration, delivered', `integration=${rare}&status=delivered`),
    sent('a rare integration, pending', `integration=${rare}&status=pending`),
    sent('a rare integration, exhausted', `integration=${rare}&status=exhausted`),
    sent('a rare integration, superseded', `integration=${rare}&status=superseded`),
    sent('a large integration, exhausted', `integration=${big}&status=exhausted`),
    sent('a large integration and a rare chain', `integration=${big}&chain=5`),
    sent('a rare chain, exhausted', 'chain=5&status=exhausted'),
    sent('a rare chain, pending', 'chain=5&status=pending'),
    sent('an hour', hour),
    sent('an hour, exhausted', (id) => `status=exhausted&${hour(id)}`),
    sent('an hour of a rare integration', (id) => `integration=${rare}&${hour(id)}`),
    sent('transaction', (id) => `hash=${txHashAt(id)}`),
    sent('transaction, delivered', (id) => `hash=${txHashAt(id)}&status=delivered`),
    sent('transaction, pending', (id) => `hash=${txHashAt(id)}&status=pending`),
    sent('transaction, exhausted', (id) => `hash=${txHashAt(id)}&status=exhausted`),
    sent('transaction and chain', (id) => `hash=${txHashAt(id)}&chain=${chainAt(id)}`),
    sent('transaction and integration', (id) => `hash=${txHashAt(id)}&integration=${big}`),
    other('one payment', payment),
    other('one payment, two versions compared', (id) => `${payment(id)}?a=1&b=5`),
    other('endpoints', () => '/endpoints'),
    other('failing endpoints', () => '/endpoints?health=failing'),
    other('first step of a replay', () => '/deliveries/replay?status=exhausted'),
    other('first step of a replay of millions', () => '/deliveries/replay?status=delivered'),
    other('jobs', () => '/jobs'),
    other('chains', () => '/chains'),
    other('integrations', () => '/integrations'),
    other('one integration', () => `/integrations/${small}`),
    other('accounts', () => '/accounts'),
    other('keys', () => '/keys'),
    other('legacy', (id) => `/legacy?chain=${chainAt(id)}&hash=${txHashAt(id)}`),
    other('audit', () => '/audit'),
    other('audit, at any depth', (id) => `/audit?before=${1_000_100 + (id % 9_000)}`),
    other('settings', () => '/settings'),
    own('overview', () => ''),
    own('payments', () => '/payments'),
    own('deliveries', () => '/deliveries'),
    own('deliveries, at any depth', (id) => `/deliveries?${belowDelivery(id)}`),
    own('delivered', () => '/deliveries?status=delivered'),
    own('endpoint', () => '/endpoint'),
    own('secrets', () => '/secrets'),
  ]
}

/** The clock of a request. All minutes are read when it goes back, and the newest when it goes on by a second. */
export const clockAt = ({ name }: Case, round: number): number =>
  newest - round * 2_000 + (name === 'a second later' ? 1_000 : 0)
