import type {
  EndpointJudge,
  EndpointTransition,
  EndpointView,
  SettledAttempt,
} from '../../src/ports/store-deliveries.js'
import type { Clock } from '../../src/ports/world.js'

/** The health of endpoints in memory. */
export interface MemoryEndpoints {
  /** Whether something that is no replay may be claimed. */
  gate(integrationAddress: string): 'open' | 'probe' | 'closed'
  /** Takes the probe where the gate asks for one: moves the block to the end of its lease. */
  probe(integrationAddress: string, leaseMs: number): boolean
  /** Unix milliseconds; 0 where nothing is blocked. */
  blockedUntil(integrationAddress: string): number
  judge(settled: readonly SettledAttempt[], judge: EndpointJudge): EndpointTransition[]
  /** Ends the blocks that end later than `longestMs` from now. Returns their number. */
  endFutureBlocks(longestMs: number): number
  /** Forgets the failures of an endpoint, as another URL does. */
  reset(integrationAddress: string): void
  views(): EndpointView[]
}

/** Builds it on a clock that plays the database's. */
export function memoryEndpoints(clock: Pick<Clock, 'now'>): MemoryEndpoints {
  const rows = new Map<string, EndpointView>()
  const healthy = { failures: 0, blocks: 0 }
  const blockedUntil = (address: string) => rows.get(address)?.blockedUntil ?? 0
  const gate = (address: string) => {
    if ((rows.get(address)?.blocks ?? 0) === 0) return 'open'
    return clock.now() < blockedUntil(address) ? 'closed' : 'probe'
  }
  return {
    blockedUntil,
    gate,
    probe(integrationAddress, leaseMs) {
      const row = rows.get(integrationAddress)
      if (row === undefined || gate(integrationAddress) !== 'probe') return false
      rows.set(integrationAddress, { ...row, blockedUntil: clock.now() + leaseMs })
      return true
    },
    judge(settled, judge) {
      const addresses = [...new Set(settled.map(({ claim }) => claim.integrationAddress))]
      const changes = addresses.map((integrationAddress) => {
        const attempts = settled.filter(({ claim }) => claim.integrationAddress === integrationAddress)
        const before = rows.get(integrationAddress)
        const results = attempts.map(({ claim, verdict }) => ({
          delivered: verdict.kind === 'delivered',
          probe: claim.probe,
        }))
        return { integrationAddress, before, ...judge(before ?? healthy, results) }
      })
      return changes.flatMap(({ integrationAddress, before, failures, blocks, blockMs }): EndpointTransition[] => {
        const failingSince = before?.failingSince ?? clock.now()
        const until = blockMs === null ? (before?.blockedUntil ?? null) : clock.now() + blockMs
        const blocked = blocks > 0 ? until : null
        if (failures === 0) rows.delete(integrationAddress)
        else rows.set(integrationAddress, { integrationAddress, failures, blocks, failingSince, blockedUntil: blocked })
        if (blocks > 0 === (before?.blocks ?? 0) > 0) return []
        return [{ integrationAddress, failures, blockedUntil: blocked, failingMs: clock.now() - failingSince }]
      })
    },
    endFutureBlocks(longestMs) {
      const late = [...rows].filter(([, row]) => (row.blockedUntil ?? 0) > clock.now() + longestMs)
      for (const [address, row] of late) rows.set(address, { ...row, blockedUntil: clock.now() })
      return late.length
    },
    reset: (integrationAddress) => void rows.delete(integrationAddress),
    views: () => [...rows.values()].sort((a, b) => (a.integrationAddress < b.integrationAddress ? -1 : 1)),
  }
}
