/** Promotes a synchronous standby under load, again and again, and counts what was lost or doubled. */
import { setTimeout as delay } from 'node:timers/promises'
import { startPgBouncer } from '../../../store-sql/test/pgbouncer.js'
import { startPostgres } from '../../../store-sql/test/postgres.js'
import { ask, promote, replicated, startStandby } from '../../../store-sql/test/standby.js'
import { startServer } from '../../src/run/start-server.js'
import { kinds, startFailoverLoad } from './failover-load.js'
import { startRecordingReceiver } from './recording-receiver.js'
import { startSwitchedAddress } from './switched-address.js'
import { tempConfig } from './temp-config.js'

export interface FailoverOptions {
  readonly rounds: number
  /** What the address of the database leads to: a relay that is moved, or PgBouncer, whose file is reloaded. */
  readonly through: 'switch' | 'pgbouncer'
  /** Successes of each kind between two failovers. */
  readonly between: number
}

export interface FailoverReport {
  /** From the crash of the primary to the first success of every kind that began after it, in milliseconds. */
  readonly backMs: readonly number[]
  readonly confirmedPayments: number
  /** Confirmed payments and versions that the last primary does not have. */
  readonly lost: number
  /** Payments stored twice, and versions beyond one for each decided update. */
  readonly doubled: number
  /** Payments whose versions are not 1, 2, 3, …. */
  readonly gaps: number
  /** Triples that were sent with different bytes. */
  readonly differing: number
  /** Payments whose newest version never arrived. */
  readonly undelivered: number
}

const integrationAddress = `0x${'a1'.repeat(20)}`
const processorSecret = 'a-processor-secret-of-the-tests'

/** Runs it; the same process serves and delivers from the first to the last second. */
export async function runFailovers({ rounds, through, between }: FailoverOptions): Promise<FailoverReport> {
  let primary = await startPostgres({ fsync: false, settings: replicated })
  const address = await (through === 'switch' ? startSwitchedAddress : startPgBouncer)(primary.connectionString)
  const receiver = await startRecordingReceiver()
  const { config, remove } = await tempConfig({
    PI_DATABASE_URL: address.connectionString,
    PI_MIGRATE: 'on',
    PI_PROCESSOR_SECRETS: processorSecret,
    ...(through === 'pgbouncer' ? { PI_DATABASE_PREPARED: 'off' } : {}),
  })
  const server = await startServer(config)
  const notificationUrl = `${receiver.url}/hook`
  const { apiSecret } = await server.service.integrations.create({ address: integrationAddress, notificationUrl })
  let standby = await startStandby(primary, { isSynchronous: true })
  const load = startFailoverLoad({ server, integrationAddress, apiSecret, processorSecret }, 4)
  const backMs: number[] = []
  const succeeded = async (since: number, count: number) => {
    while (kinds.some((kind) => load.successesAfter(kind, since) < count)) await delay(5)
  }
  for (let round = 0; round < rounds; round += 1) {
    await succeeded(performance.now(), between)
    const at = performance.now()
    await primary.halt('SIGQUIT')
    await promote(standby)
    address.moveTo(standby.connectionString)
    await succeeded(at, 1)
    backMs.push(performance.now() - at)
    await primary.remove()
    primary = standby
    standby = await startStandby(primary, { isSynchronous: true })
  }
  await load.stop()
  const waiting = async () =>
    (await ask<{ left: number }>(primary, `select count(*)::int as left from ${table('outbox')}`))[0]
  while ((await waiting())?.left !== 0) await delay(50)
  const stored = await getStored(primary)
  await server.stop()
  await Promise.all([address.stop(), receiver.stop(), remove()])
  await Promise.all([primary.remove(), standby.remove()])

  const versions = new Map(stored.map(({ hash, versions: count }) => [hash, count]))
  const hasVersion = (txHash: string, version: number) => (versions.get(txHash) ?? 0) >= version
  const sent = sentBy(receiver.arrived.map(({ body }) => body.toString('utf8')))
  return {
    backMs,
    confirmedPayments: load.payments.size,
    lost:
      [...load.payments].filter((txHash) => !hasVersion(txHash, 1)).length +
      [...load.updates.values()].filter(({ txHash, version }) => !hasVersion(txHash, version)).length,
    doubled: stored.length - versions.size + stored.filter((each) => each.versions !== each.applied + 1).length,
    gaps: stored.filter((each) => each.versions !== each.newest).length,
    differing: [...sent.values()].filter((bodies) => bodies.size > 1).length,
    undelivered: stored.filter(({ hash, newest }) => !sent.has(`${hash} ${newest}`)).length,
  }
}

const table = (name: string) => `payment_integration.${name}`

interface StoredPayment {
  readonly hash: string
  readonly versions: number
  readonly newest: number
  /** Updates that were decided on it and changed it. */
  readonly applied: number
}

function getStored(primary: { readonly connectionString: string }): Promise<StoredPayment[]> {
  return ask<StoredPayment>(
    primary,
    `select '0x' || encode(p.tx_hash, 'hex') as hash, count(s.version)::int as versions, max(s.version)::int as newest,
      (select count(*)::int from ${table('updates')} u where u.payment_id = p.id and u.outcome = 'applied') as applied
     from ${table('payments')} p left join ${table('snapshots')} s on s.payment_id = p.id group by p.id`,
  )
}

/** The different bodies of each payment and version. */
function sentBy(bodies: readonly string[]): Map<string, Set<string>> {
  const sent = new Map<string, Set<string>>()
  for (const body of bodies) {
    const { txHash, version } = JSON.parse(body) as { txHash: string; version: number }
    const key = `${txHash} ${version}`
    sent.set(key, (sent.get(key) ?? new Set()).add(body))
  }
  return sent
}
