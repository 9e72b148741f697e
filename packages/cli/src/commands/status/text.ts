/** Formats the health of a server. @module */
import type { RunningProcess } from '@payment-integration/core'
import type { DatabaseSnapshot, ProvenRange } from '@payment-integration/core/ports'
import type { ChainHealth, HealthReport } from '@payment-integration/server'
import { grouped, span, table } from '../../format.js'

/** The proven ranges of one chain. */
export interface ChainProofs {
  readonly chainId: number
  /** Newest first. */
  readonly ranges: readonly ProvenRange[]
}

const chainHeads = ['chain', 'head', 'age', 'indexed', 'lag', 'proof', 'reorganisations', 'role']
const endpointHeads = [
  ...['endpoint', 'score', 'used', 'head', 'ms'],
  ...['failures', 'contradictions', 'failed proofs', 'blocks per request'],
]

const trafficHeads = ['endpoint', 'calls', 'bytes', 'blocks', 'calls per block', 'bytes per block', 'cost']

/** What a report is shown with. */
export interface StatusContext {
  /** Unix time in milliseconds. */
  readonly now: number
  /** Price of a million calls at the nodes of a chain; null: unknown. */
  readonly priceOf: (chainId: number) => number | null
}

/** A table of the chains, then endpoints, their traffic and newest error of each. */
export function statusText(
  url: string,
  { status, database, chains, recording }: HealthReport,
  { now, priceOf }: StatusContext,
): string[] {
  const lines = [
    `${status}: ${url}, database ${database}`,
    ...(recording === 'own' ? ['Payments of its own integrations alone are stored (PI_RECORD=own).'] : []),
  ]
  if (chains.length === 0) return [...lines, 'The server follows no chain.']
  return [
    ...lines,
    '',
    ...table([chainHeads, ...chains.map((chain) => chainRow(chain, now))]),
    ...chains.flatMap((chain) => details(chain, now, priceOf(chain.chainId))),
  ]
}

/** A table of the processes with the database in common. `now` is unix time in milliseconds. */
export function processesText({ processes }: { readonly processes: readonly RunningProcess[] }, now: number): string[] {
  if (processes.length === 0) return ['', 'No process runs on this database.']
  const rows = processes.map(({ host, pid, release, roles, startedAt, silentMs, leases }) => [
    ...[`${host} ${pid}`, release, roles.join(' ')],
    silentMs === null
      ? `runs for ${span(Math.max(0, now - startedAt) / 1_000)}`
      : `silent for ${span(silentMs / 1_000)}`,
    leases.join(' ') || '-',
  ])
  return ['', 'Processes', ...indented(table([['process', 'release', 'roles', 'state', 'leases'], ...rows]))]
}

/** A table of the proven ranges of a chain. */
export function proofsText({ chainId, ranges }: ChainProofs): string[] {
  if (ranges.length === 0) return ['', `Chain ${chainId}: no block is stored.`]
  const rows = ranges.map(({ from, to, proof, endpoint }) => [grouped(from), grouped(to), proof, endpoint])
  return [
    '',
    `Chain ${chainId}: how its blocks were proven, newest first`,
    ...indented(table([['from', 'to', 'proof', 'endpoint'], ...rows])),
  ]
}

/** A line about failing notification endpoints. */
export function notificationsText({ failing }: { readonly failing: number }): string[] {
  if (failing === 0) return ['', 'Notifications: no endpoint fails.']
  const which = failing === 1 ? 'endpoint fails' : 'endpoints fail'
  return ['', `Notifications: ${grouped(failing)} ${which}; see deliveries endpoints.`]
}

/** A warning about a database snapshot that slows deliveries. */
export function oldSnapshotText({ holder, ageMs, databaseUser, application }: DatabaseSnapshot): string[] {
  const user = databaseUser === null ? '' : ` of database user ${databaseUser}`
  const name = application === '' ? 'without a name' : application
  return [
    '',
    `Warning: a database snapshot has been open for ${span(ageMs / 1_000)} and slows deliveries: ${holder} ${name}${user}.`,
    'See docs/runbooks/old-database-snapshot.md.',
  ]
}

function chainRow(chain: ChainHealth, now: number): string[] {
  const { chainId, head, headAt, indexed, lag, proof, reorganisations, leading } = chain
  const age = headAt === null || headAt === undefined ? '-' : span(Math.max(0, now - headAt) / 1_000)
  const role = leading ? 'leads' : 'stands by'
  return [
    String(chainId),
    figure(head),
    age,
    figure(indexed),
    figure(lag),
    proof ?? '-',
    grouped(reorganisations),
    role,
  ]
}

function details({ chainId, endpoints, error, lastError }: ChainHealth, now: number, price: number | null): string[] {
  const rows = endpoints.map((each) => [
    ...[each.name, each.score.toFixed(2), each.inUse ? 'yes' : 'no', figure(each.head), figure(each.latencyMs)],
    ...[each.failures, each.contradictions, each.failedProofs, each.maxRange].map(grouped),
  ])
  const messages = [
    ...(error === null ? [] : [`error: ${error}`]),
    ...(lastError === null
      ? []
      : [`last error, ${span(Math.max(0, now - lastError.at) / 1_000)} ago: ${lastError.message}`]),
    ...endpoints.flatMap(({ name, lastError: message }) => (message === null ? [] : [`${name}: ${message}`])),
  ]
  return [
    '',
    `Chain ${chainId}`,
    ...indented([
      ...(rows.length === 0 ? [] : table([endpointHeads, ...rows])),
      ...(rows.length === 0 ? [] : table([trafficHeads, ...endpoints.map((each) => trafficRow(each, price))])),
      ...messages,
    ]),
  ]
}

function trafficRow(endpoint: ChainHealth['endpoints'][number], price: number | null): string[] {
  const { name, calls, receivedBytes, blocks } = endpoint
  return [
    ...[name, grouped(calls), grouped(receivedBytes), grouped(blocks)],
    ...(blocks === 0 ? ['-', '-'] : [(calls / blocks).toFixed(2), grouped(receivedBytes / blocks)]),
    price === null ? '-' : ((calls * price) / 1_000_000).toFixed(4),
  ]
}

const figure = (value: number | null) => (value === null ? '-' : grouped(value))
const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`)
