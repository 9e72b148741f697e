/** Counts requests that rolling restarts lose, and measures how soon a killed leader is replaced. @module */
import { randomBytes } from 'node:crypto'
import { loadavg } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { startAnvil } from '@payment-integration/chain-evm/dev'
import { openService, readConfig } from '@payment-integration/server/service'
import { startBalancer } from '../../../packages/server/test/support/balancer.js'
import { startPostgres } from '../../../packages/store-sql/test/postgres.js'
import { median } from '../measure.js'
import { type ServerProcess, startServe } from './process.js'

/** How much to measure. */
export interface RolesEffort {
  /** Restarts of a process by SIGTERM. */
  readonly restarts: number
  /** Leaders that are killed. */
  readonly kills: number
  /** Clients that request pages meanwhile. */
  readonly clients: number
}

const address = `0x${'aa'.repeat(20)}`
const chainId = 31_337
const leaseMs = 5_000

/** Restarts and kills two processes on PostgreSQL under load, and returns Markdown. */
export async function benchRoles({ restarts, kills, clients }: RolesEffort): Promise<string> {
  const [server, anvil, balancer] = await Promise.all([startPostgres(), startAnvil({ chainId }), startBalancer()])
  const env = {
    PI_ENV: 'development',
    PI_DATABASE_URL: server.connectionString,
    PI_MIGRATE: 'on',
    PI_MASTER_KEY: randomBytes(32).toString('hex'),
    [`PI_RPC_URL_${chainId}`]: anvil.rpcUrl,
    [`PI_ROUTERS_${chainId}`]: `0x${'99'.repeat(20)}@0.8`,
    PI_LEASE_MS: String(leaseMs),
    PI_DRAIN_MS: '2000',
    PI_KEEP_ALIVE_MS: '60000',
  }
  const opened = await openService(readConfig({ ...env, PI_LOG_LEVEL: 'silent' }))
  const { leases } = opened.store
  const running: ServerProcess[] = []
  const start = async () => {
    const started = await startServe(env)
    balancer.add(started)
    running.push(started)
    while (!balancer.isUsed(started)) await wait(10)
  }
  let asking = true
  try {
    const { apiSecret } = await opened.service.integrations.create({ address })
    const authorization = `Basic ${Buffer.from(`${address}:${apiSecret}`).toString('base64')}`
    await start()
    await start()
    const statuses: number[] = []
    const load = Array.from({ length: clients }, async () => {
      while (asking) {
        const url = `${balancer.url}/api/v1/integration/payments`
        const status = await fetch(url, { headers: { authorization } }).then(
          (answer) => answer.arrayBuffer().then(() => answer.status),
          () => 0,
        )
        statuses.push(status)
      }
    })
    for (let restart = 0; restart < restarts; restart += 1) {
      const old = running.shift()
      await old?.end('SIGTERM')
      if (old) balancer.remove(old)
      await start()
    }
    const [requests, lost] = [
      statuses.length,
      balancer.lost.length + statuses.filter((status) => status !== 200).length,
    ]
    const waits: number[] = []
    for (let kill = 0; kill < kills; kill += 1) {
      const leader = await untilLed(null)
      const { id, pid } = (await opened.service.processes.list()).find(({ id }) => id === leader) ?? {}
      const victim = running.find((each) => each.pid === pid)
      const since = performance.now()
      await victim?.end('SIGKILL')
      await untilLed(id ?? null)
      waits.push(performance.now() - since)
      if (victim) balancer.remove(victim)
      running.splice(0, running.length, ...running.filter((each) => each !== victim))
      await start()
    }
    asking = false
    await Promise.all(load)
    return markdown({ restarts, requests, lost, waits, clients })
  } finally {
    asking = false
    for (const each of running) await each.end('SIGKILL')
    await balancer.stop()
    await opened.close()
    await anvil.stop()
    await server.remove()
  }

  /** Waits until a process other than `former` has the chain's lease; resolves its id. */
  async function untilLed(former: string | null): Promise<string> {
    for (;;) {
      const lease = (await leases.list()).find(({ name, endsInMs }) => name === `indexer:${chainId}` && endsInMs > 0)
      if (lease !== undefined && lease.holder !== former) return lease.holder
      await wait(10)
    }
  }
}

function markdown(found: {
  readonly restarts: number
  readonly requests: number
  readonly lost: number
  readonly waits: readonly number[]
  readonly clients: number
}): string {
  const { restarts, requests, lost, waits, clients } = found
  const seconds = (ms: number) => (ms / 1_000).toFixed(1)
  return [
    '### Roles: two processes on PostgreSQL behind a balancer that reads `/ready`',
    '',
    `${clients} clients request pages; load ${loadavg()[0]?.toFixed(1)}.`,
    '',
    '| | |',
    '| --- | --- |',
    `| restarts by SIGTERM | ${restarts} |`,
    `| requests meanwhile | ${requests.toLocaleString('en')} |`,
    `| lost | ${lost} |`,
    `| killed leaders (SIGKILL), lease ${seconds(leaseMs)} s | ${waits.length} |`,
    `| until another process leads, median | ${seconds(median(waits))} s |`,
    `| longest | ${seconds(Math.max(...waits))} s |`,
    '',
  ].join('\n')
}
