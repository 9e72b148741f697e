import { endpointOf } from '../../src/notifications/endpoint-of.js'
import type {
  AttemptRecord,
  ClaimedDelivery,
  ClaimRequest,
  DeliveryFilter,
  DeliveryStatus,
  DeliveryStore,
  DeliveryView,
  Replayed,
  ReplayRequest,
} from '../../src/ports/store-deliveries.js'
import type { IntegrationRecord } from '../../src/ports/store-integrations.js'
import type { Clock } from '../../src/ports/world.js'
import { checkInteger, checkTimes } from './memory-checks.js'
import { memoryEndpoints } from './memory-endpoints.js'

type Given = Omit<ClaimedDelivery, 'leaseToken' | 'attempt' | 'step' | 'replay' | 'probe' | 'ageMs'>

/** A delivery to put into the outbox. */
export type NewDelivery = Pick<Given, 'deliveryId'> & Partial<Given> & { readonly dueAt?: number }

interface Row {
  readonly given: Given
  readonly attempts: readonly AttemptRecord[]
  readonly status: DeliveryStatus
  readonly createdAt: number
  /** When it was made or replayed. */
  readonly madeAt: number
  readonly dueAt: number
  /** 0: never claimed, 1: comes back, 2: replayed. */
  readonly lane: 0 | 1 | 2
  /** Attempts logged when its schedule began. */
  readonly scheduleFrom: number
  readonly replay: boolean
  readonly token: string | null
  /** The URL of its newest claim. */
  readonly claimedUrl: string | null
  readonly leaseUntil: number
}

/** An outbox in memory with the guarantees of the port, for tests of the core. */
export interface MemoryDeliveries extends DeliveryStore {
  add(delivery: NewDelivery): void
  view(deliveryId: string): DeliveryView
  /** Replays, as a transaction does. */
  replay(request: ReplayRequest): Replayed
  /** Calls everyone who waits for due deliveries, as another process' commit would. */
  announce(): void
  /** How many wait for it. */
  readonly listening: () => number
  /** Errors of the next calls, by method; each is thrown once. */
  readonly failures: { claim: Error[]; settle: Error[]; msUntilDue: Error[] }
  /** Every request for a claim. */
  readonly claims: ClaimRequest[]
  /** The `limit` of every claim. */
  readonly claimLimits: number[]
  /** How many attempts each settle held, those that were refused included. */
  readonly groups: number[]
  /** Makes every lease that runs end later. */
  extendLeases(ms: number): void
  /** Takes every claim away, as another dispatcher would that took them over. */
  loseLeases(): void
  /** Reads the URL and the secrets of registered integrations there, as they are at each claim. */
  useIntegrations(read: () => ReadonlyMap<string, IntegrationRecord>): void
  /** Forgets the failures of an integration's endpoint. */
  resetEndpoint(integrationAddress: string): void
  /** Gives back what undoes every change from now on. */
  save(): () => void
}

/** Builds the outbox on a clock that plays the database's. */
export function memoryDeliveries(clock: Pick<Clock, 'now'>): MemoryDeliveries {
  const rows = new Map<string, Row>()
  const pending = new Set<string>()
  const newest = new Map<string, number>()
  const endpoints = memoryEndpoints(clock)
  const failures = { claim: [] as Error[], settle: [] as Error[], msUntilDue: [] as Error[] }
  const claims: MemoryDeliveries['claims'] = []
  const groups: number[] = []
  const listeners = new Set<() => void>()
  /** The integration that was served last, by endpoint. */
  const lastServed = new Map<string, string>()
  let tokens = 0
  let integrations: () => ReadonlyMap<string, IntegrationRecord> = () => new Map()

  const failOnce = (method: keyof typeof failures) => {
    const error = failures[method].shift()
    if (error) throw error
  }
  const put = (row: Row) => {
    rows.set(row.given.deliveryId, row)
    if (row.status === 'pending') pending.add(row.given.deliveryId)
    else pending.delete(row.given.deliveryId)
  }
  const found = (deliveryId: string): Row => {
    const row = rows.get(deliveryId)
    if (row === undefined) throw new Error(`no delivery ${deliveryId}`)
    return row
  }
  const paymentOf = ({ given }: Row) => `${given.chainId}:${given.txHash}:${given.integrationAddress}`
  const isSuperseded = (row: Row) => (newest.get(paymentOf(row)) ?? 0) > row.given.version
  const availableAt = (row: Row) => (row.token === null ? row.dueAt : Math.max(row.dueAt, row.leaseUntil))
  /** The delivery with the URL and secrets of the moment, or null: its integration takes none now. */
  const servedOf = ({ given }: Row): Given | null => {
    const record = integrations().get(given.integrationAddress)
    if (record === undefined) return given
    const { enabled, notificationUrl, signingSecret, previousSigningSecret } = record
    if (!enabled || notificationUrl === null) return null
    return { ...given, notificationUrl, signingSecret, previousSigningSecret }
  }
  const waiting = () => [...pending].map(found).filter((row) => servedOf(row) !== null)
  const isLeased = ({ token, leaseUntil }: Row) => token !== null && clock.now() < leaseUntil

  function viewOf(row: Row): DeliveryView {
    const { deliveryId, integrationAddress, chainId, txHash, version } = row.given
    const { status, attempts, createdAt } = row
    const nextAttemptAt = status === 'pending' ? row.dueAt : null
    return { deliveryId, integrationAddress, chainId, txHash, version, status, createdAt, attempts, nextAttemptAt }
  }

  function fits(filter: DeliveryFilter, view: DeliveryView): boolean {
    const { since, until, integrationAddress, chainId, txHash, status } = filter
    if (since !== undefined && (view.createdAt ?? -1) < since) return false
    if (until !== undefined && (view.createdAt ?? -1) >= until) return false
    const named = { integrationAddress, chainId, txHash, status }
    return Object.entries(named).every(([name, value]) => value === undefined || Reflect.get(view, name) === value)
  }

  function after(afterId: string | undefined): Row[] {
    const ids = [...rows.keys()]
    if (afterId !== undefined && !rows.has(afterId)) throw new TypeError(`there is no delivery ${afterId}`)
    return ids.slice(afterId === undefined ? 0 : ids.indexOf(afterId) + 1).map(found)
  }

  function save(): () => void {
    const kept = [...rows]
    return () => {
      for (const [, row] of kept) put(row)
    }
  }

  return {
    failures,
    claims,
    groups,
    get claimLimits() {
      return claims.map(({ limit }) => limit)
    },
    listening: () => listeners.size,
    announce() {
      for (const listener of listeners) listener()
    },
    add({ dueAt = clock.now(), ...rest }) {
      const { integrationAddress } = rest
      const given = {
        integrationAddress: `0x${'a1'.repeat(20)}`,
        // Each integration has an endpoint of its own.
        notificationUrl:
          integrationAddress === undefined ? 'https://receiver.example/hook' : `receiver of ${integrationAddress}`,
        signingSecret: { keyVersion: 1, sealed: 'sealed' },
        previousSigningSecret: null,
        chainId: 1,
        txHash: `0x${Buffer.from(rest.deliveryId).toString('hex').padStart(64, '0')}`,
        version: 1,
        body: new TextEncoder().encode(JSON.stringify({ deliveryId: rest.deliveryId })),
        ...rest,
      }
      const [createdAt, madeAt] = [clock.now(), clock.now()]
      const schedule = {
        dueAt,
        lane: 0,
        scheduleFrom: 0,
        replay: false,
        token: null,
        claimedUrl: null,
        leaseUntil: 0,
      } as const
      const row: Row = { given, attempts: [], status: 'pending', createdAt, madeAt, ...schedule }
      put(row)
      newest.set(paymentOf(row), Math.max(newest.get(paymentOf(row)) ?? 0, given.version))
    },
    view: (deliveryId) => viewOf(found(deliveryId)),
    extendLeases(ms) {
      for (const row of rows.values()) if (row.token !== null) put({ ...row, leaseUntil: row.leaseUntil + ms })
    },
    loseLeases() {
      for (const row of rows.values()) if (row.token !== null) put({ ...row, token: `lost ${row.token}` })
    },
    useIntegrations(read) {
      integrations = read
    },
    resetEndpoint: (integrationAddress) => endpoints.reset(integrationAddress),
    save,
    replay({ deliveryId, afterId, upToId, limit, ...filter }) {
      const ids = [...rows.keys()]
      const upTo = upToId === undefined ? ids.length : ids.indexOf(upToId) + 1
      const chosen = after(afterId)
        .filter(({ given }) => ids.indexOf(given.deliveryId) < upTo)
        .filter(({ given }) => deliveryId === undefined || given.deliveryId === deliveryId)
        .filter((row) => fits(filter, viewOf(row)))
        .slice(0, limit)
      const free = chosen.filter((row) => !isLeased(row))
      const now = clock.now()
      for (const row of free) {
        const schedule = { scheduleFrom: row.attempts.length, dueAt: now, madeAt: now, token: null }
        put({ ...row, ...schedule, status: 'pending', lane: 2, replay: true })
      }
      const lastId = chosen.at(-1)?.given.deliveryId ?? null
      return { replayed: free.length, underWay: chosen.length - free.length, lastId }
    },
    async claim(request: ClaimRequest) {
      const { limit, leaseMs, maxRetries = limit, perEndpoint = Number.POSITIVE_INFINITY } = request
      const { freeSlots = Number.POSITIVE_INFINITY, inFlightByEndpoint = new Map() } = request
      const { inFlightByIntegration = new Map() } = request
      checkInteger(limit, 'limit', 1)
      checkInteger(leaseMs, 'leaseMs', 1)
      if (request.perEndpoint !== undefined) checkInteger(perEndpoint, 'perEndpoint', 1)
      if (request.freeSlots !== undefined) checkInteger(freeSlots, 'freeSlots')
      for (const count of [maxRetries, ...inFlightByEndpoint.values(), ...inFlightByIntegration.values()])
        checkInteger(count, 'count')
      claims.push(request)
      failOnce('claim')
      const now = clock.now()
      const byEndpoint = new Map<string, number>(inFlightByEndpoint)
      const byIntegration = new Map<string, number>(inFlightByIntegration)
      const claimed: ClaimedDelivery[] = []
      let retries = 0
      /** Lane 1 for a probe, null for what is not to be had. */
      const laneOf = (row: Row) => {
        const gate = row.lane === 2 ? 'open' : endpoints.gate(row.given.integrationAddress)
        return gate === 'closed' ? null : gate === 'probe' ? 1 : row.lane
      }
      /**
       * Takes the longest due out of a queue of the integration whose turn it is: of which the fewest are held, after
       * the last one served.
       */
      const nextOf = (name: string, queue: Row[]): Row | undefined => {
        const last = lastServed.get(name) ?? ''
        const addresses = [...new Set(queue.map(({ given }) => given.integrationAddress))].sort()
        const inTurn = [...addresses.filter((own) => own > last), ...addresses.filter((own) => own <= last)]
        const [turn] = inTurn.sort((a, b) => (byIntegration.get(a) ?? 0) - (byIntegration.get(b) ?? 0))
        const at = queue.findIndex(({ given }) => given.integrationAddress === turn)
        return at < 0 ? undefined : queue.splice(at, 1)[0]
      }
      const due = waiting()
        .filter((row) => availableAt(row) <= now)
        .sort((a, b) => availableAt(a) - availableAt(b))
      for (const lane of [0, 1, 2] as const) {
        const queues = new Map<string, Row[]>()
        for (const row of due) {
          if (laneOf(row) !== lane) continue
          const name = endpointOf((servedOf(row) ?? row.given).notificationUrl)
          queues.set(name, [...(queues.get(name) ?? []), row])
        }
        while (claimed.length < limit && (lane === 0 || retries < maxRetries)) {
          const inFlight = (name: string) => byEndpoint.get(name) ?? 0
          const dueSince = ([oldest]: Row[]) => (oldest === undefined ? 0 : availableAt(oldest))
          const [first, ...others] = [...queues].filter(([, queue]) => queue.length > 0)
          if (first === undefined) break
          const [name, queue] = others.reduce((best, next) => {
            const apart = inFlight(next[0]) - inFlight(best[0]) || dueSince(next[1]) - dueSince(best[1])
            return apart < 0 ? next : best
          }, first)
          if (inFlight(name) >= Math.min(perEndpoint, freeSlots - claimed.length)) break
          const row = nextOf(name, queue)
          // Its endpoint's probe may have been taken just now.
          if (row === undefined || laneOf(row) !== lane) continue
          const { replay, attempts, scheduleFrom } = row
          if (row.lane === 1 && attempts.length > 0 && isSuperseded(row)) {
            put({ ...row, status: 'superseded' })
            continue
          }
          const probe = row.lane !== 2 && endpoints.probe(row.given.integrationAddress, leaseMs)
          byEndpoint.set(name, inFlight(name) + 1)
          byIntegration.set(row.given.integrationAddress, (byIntegration.get(row.given.integrationAddress) ?? 0) + 1)
          lastServed.set(name, row.given.integrationAddress)
          if (lane > 0) retries += 1
          tokens += 1
          const leaseToken = `token-${tokens}`
          const served = servedOf(row) ?? row.given
          const claimedUrl = served.notificationUrl
          put({ ...row, lane: row.lane === 2 ? 2 : 1, token: leaseToken, claimedUrl, leaseUntil: now + leaseMs })
          const attempt = attempts.length + 1
          const step = attempt - scheduleFrom
          claimed.push({ ...served, leaseToken, attempt, step, replay, probe, ageMs: now - row.madeAt })
        }
      }
      return claimed
    },
    async settle(settled, judge) {
      groups.push(settled.length)
      failOnce('settle')
      const now = clock.now()
      const undo = save()
      const statuses = settled.map(({ claim, rejected = null, attempt, verdict }) => {
        const row = rows.get(claim.deliveryId)
        if (row === undefined || row.token !== claim.leaseToken) return null
        const retries = verdict.kind === 'retry'
        const status = retries ? (isSuperseded(row) ? 'superseded' : 'pending') : verdict.kind
        const dueAt = retries ? now + verdict.inMs : row.dueAt
        const attempts = [...row.attempts, ...(rejected === null ? [] : [rejected]), attempt]
        const scheduleFrom = row.scheduleFrom + (rejected === null ? 0 : 1)
        put({ ...row, attempts, scheduleFrom, token: null, lane: 1, status, dueAt })
        return status
      })
      const isUrlSame = (row: Row | undefined) => row !== undefined && servedOf(row)?.notificationUrl === row.claimedUrl
      const counted = settled.filter(
        ({ countsForHealth = true, claim }, index) =>
          statuses[index] !== null && countsForHealth && isUrlSame(rows.get(claim.deliveryId)),
      )
      try {
        return { statuses, transitions: endpoints.judge(counted, judge) }
      } catch (error) {
        undo()
        throw error
      }
    },
    async endFutureWaits({ leaseMs, retryMs, blockMs }) {
      const now = clock.now()
      let ended = 0
      for (const row of waiting()) {
        const failed = row.attempts.length - row.scheduleFrom
        const longest = row.token === null && row.lane === 1 ? (retryMs[failed - 1] ?? leaseMs) : leaseMs
        if (availableAt(row) <= now + longest) continue
        put({ ...row, dueAt: now, leaseUntil: now })
        ended += 1
      }
      return ended + endpoints.endFutureBlocks(blockMs)
    },
    // A memory has no copy in which a delivery could be missing, and no other sessions.
    findMissing: async () => ({ examined: 0, missing: 0, lowestId: null }),
    oldestSnapshot: async () => null,
    async msUntilDue() {
      failOnce('msUntilDue')
      const times = waiting().map((row) =>
        row.lane === 2
          ? availableAt(row)
          : Math.max(availableAt(row), endpoints.blockedUntil(row.given.integrationAddress)),
      )
      return times.length === 0 ? null : Math.max(0, Math.min(...times) - clock.now())
    },
    whenDue(listener) {
      const own = () => listener()
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    async backlog({ atMost }) {
      checkInteger(atMost, 'atMost', 1)
      const due = waiting().filter((row) => availableAt(row) <= clock.now())
      const isBlocked = ({ lane, given }: Row) => lane !== 2 && endpoints.blockedUntil(given.integrationAddress) > 0
      const oldest = (some: readonly Row[]) =>
        some.length === 0 ? null : clock.now() - Math.min(...some.map(availableAt))
      return {
        pending: Math.min(atMost, waiting().length),
        oldestDueMs: oldest(due.filter((row) => !isBlocked(row))),
        oldestBlockedMs: oldest(due.filter(isBlocked)),
      }
    },
    async list({ afterId, limit, ...filter }) {
      checkTimes({ since: filter.since, until: filter.until })
      return after(afterId)
        .map(viewOf)
        .filter((view) => fits(filter, view))
        .slice(0, checkInteger(limit, 'limit', 1))
    },
    async find(deliveryId) {
      const row = rows.get(deliveryId)
      return row === undefined ? null : viewOf(row)
    },
    newestId: async (filter) =>
      [...rows.values()]
        .filter((row) => fits(filter, viewOf(row)))
        .map(viewOf)
        .at(-1)?.deliveryId ?? null,
    async count(filter, { atMost } = {}) {
      checkTimes({ since: filter.since, until: filter.until })
      if (atMost !== undefined) checkInteger(atMost, 'atMost', 1)
      return [...rows.values()].filter((row) => fits(filter, viewOf(row))).slice(0, atMost).length
    },
    completeUpTo: async () => [...rows.keys()].at(-1) ?? '0',
    async stream({ integrationAddress, afterId, upToId, limit }) {
      checkInteger(limit, 'limit', 1)
      const upTo = upToId === '0' ? -1 : [...rows.keys()].indexOf(upToId)
      const chosen = after(afterId === '0' ? undefined : afterId).filter(
        ({ given }) => given.integrationAddress === integrationAddress,
      )
      return chosen
        .filter(({ given }) => [...rows.keys()].indexOf(given.deliveryId) <= upTo)
        .slice(0, limit)
        .map(({ createdAt, given: { deliveryId, chainId, txHash, version, body } }) => ({
          deliveryId,
          chainId,
          txHash,
          version,
          createdAt,
          body,
        }))
    },
    async endpoints({ limit } = {}) {
      if (limit !== undefined) checkInteger(limit, 'limit', 1)
      return endpoints.views().slice(0, limit)
    },
    endpoint: async (address) => endpoints.views().find((view) => view.integrationAddress === address) ?? null,
  }
}
