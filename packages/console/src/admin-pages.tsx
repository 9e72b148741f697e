/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Reads the pages of identity, the legacy API, integrations, accounts, keys and operators. @module */
import type { Service } from '@payment-integration/core'
import { FilterError, type Given } from './filters.js'
import { findIntegration } from './find-integration.js'
import type { PageContent } from './page-types.js'
import { AccountPage, AccountsPage } from './pages/accounts.js'
import { IdentityPage } from './pages/identity.js'
import { IntegrationPage, IntegrationsPage } from './pages/integrations.js'
import { LegacyPage, legacyAnswer } from './pages/legacy.js'
import { LegacyKeysPage } from './pages/legacy-keys.js'
import { OperatorsPage } from './pages/operators.js'
import { integrationsAfter, pageSize } from './pages/part-of.js'
import { hrefOf } from './view/parts.js'

/** Dependencies of these pages. */
export interface AdminDeps {
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

type Load = (deps: AdminDeps, given: Given, name: string | undefined) => Promise<PageContent | null>

const sections: Readonly<Record<string, Load>> = {
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
