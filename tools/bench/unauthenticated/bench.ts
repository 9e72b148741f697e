/** Compares the CPU cost of requests without credentials with a 401. @module */
import { median } from '../measure.js'
import { sqliteDatabase } from '../read-api/database.js'
import { burst, connections } from '../read-api/load.js'
import { type ServerProcess, startServerProcess } from '../read-api/server-process.js'
import { type Way, ways } from './ways.js'

/** How long to measure. */
export interface UnauthenticatedEffort {
  /** Warm-up requests of each kind. */
  readonly warmUps: number
  /** How often the kinds take turns. */
  readonly rounds: number
  /** Time of a turn, in seconds. */
  readonly seconds: number
}

const variables = {
  // The bench discards the log. Writing it costs as much as in production.
  PI_LOG_LEVEL: 'info',
  PI_REFERENCE: 'on',
  PI_METRICS_TOKEN: 'a-token-of-the-bench',
  PI_PROCESSOR_SECRETS: 'a secret of the bench',
  PI_IDENTITY_APP_TOKEN: 'bench',
  PI_IDENTITY_SECRET_KEY: 'bench',
  PI_IDENTITY_LEVEL: 'bench',
  PI_IDENTITY_WEBHOOK_SECRETS: 'a secret of the bench',
}

/** Measures on an empty SQLite file, where a 401 is cheapest, and returns Markdown. */
export async function benchUnauthenticated(effort: UnauthenticatedEffort): Promise<string> {
  const database = await sqliteDatabase()
  const open = await startServerProcess('ours', database.url, variables)
  const limited = await startServerProcess('ours', database.url, { PI_LIMIT_PER_SOURCE: '1' })
  try {
    return await measure(open, limited, effort)
  } finally {
    await Promise.all([open.stop(), limited.stop()])
    await database.remove()
  }
}

async function measure(open: ServerProcess, limited: ServerProcess, effort: UnauthenticatedEffort): Promise<string> {
  const tags = await tagsOf(open, ['/openapi.json', '/reference/swagger-ui-bundle.js'])
  const [base, ...others] = await prepare(ways(tags))
  if (base === undefined) throw new Error('There is no 401 to compare with.')
  const kinds = [base, ...others].map((kind) => ({ ...kind, pairs: [] as (readonly [own: number, of401: number])[] }))
  for (let round = 0; round < effort.rounds; round += 1)
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
      // Side by side, because the machine's speed changes every second.
      const of401 = await base.cost()
      kind.pairs.push([await kind.cost(), of401])
    }
  const rows = kinds.map(({ name, pairs }) => {
    const ratio = median(pairs.map(([own, of401]) => own / of401))
    return `| ${name} | ${median(pairs.map(([own]) => own)).toFixed(0)} | ${ratio.toFixed(2)} |`
  })
  const head = [
    '### CPU time of a request without credentials, SQLite',
    '',
    '| | CPU µs | of a 401 |',
    '| --- | --- | --- |',
  ]
  return [...head, ...rows, ''].join('\n')

  async function prepare(all: readonly Way[]) {
    const prepared = []
    for (const { name, load, isLimited = false } of all) {
      const server = isLimited ? limited : open
      const { requestsPerSecond } = await burst(server, load, effort.warmUps)
      const amount = Math.max(connections, Math.round(requestsPerSecond * effort.seconds))
      const cost = async () => {
        // Warms up again: the engine drops compiled code of an idle process, and the other process is warm.
        if (isLimited) await burst(server, load, effort.warmUps)
        return (await burst(server, load, amount)).cpuUsPerRequest
      }
      prepared.push({ name, cost })
    }
    return prepared
  }
}

async function tagsOf({ url }: ServerProcess, paths: readonly string[]): Promise<Record<string, string>> {
  const tags = paths.map(async (path) => {
    const { headers } = await fetch(`${url}${path}`, { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } })
    return [path, headers.get('etag') ?? ''] as const
  })
  return Object.fromEntries(await Promise.all(tags))
}
