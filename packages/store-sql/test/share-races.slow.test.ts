import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Review } from '@payment-integration/core/ports'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { redemptionLeaseMs } from '../../core/src/identity/redemption.js'
import { createPostgresStore } from '../src/exports/postgres.js'
import type { ShareTask } from './children/share.js'
import { postgresMissing, startPostgres, type TestPostgres } from './postgres.js'
import { type Child, compileChild, nextLine, startChild } from './support/child.js'

const begun = { reviewStatus: 'init', reviewAnswer: null, rejectType: null, rejectLabels: [] }

const rejected: Review = { reviewStatus: 'completed', reviewAnswer: 'RED', rejectType: 'RETRY', rejectLabels: [] }
const pending: Review = { ...begun, reviewStatus: 'pending' }
const shop = `0x${'a1'.repeat(20)}`
const otherShop = `0x${'b2'.repeat(20)}`

interface Answer {
  readonly reused?: boolean
  readonly reviewStatus?: string
  readonly code?: string
}
interface Result {
  readonly answers: readonly Answer[]
  readonly passed: number
}

/** A path that is killed at each of its kill points. `before` prepares the database. */
interface Path {
  readonly before?: { readonly by: string; readonly loses?: 'before' | 'after'; readonly review?: Review }
  readonly dies: (email: string, name: string) => ShareTask
  /** The final share, and its answer. */
  readonly asks: string
  readonly answers: Answer
  /** The number of redemptions at the end. */
  readonly redeemed: number
  /** The minimum of kill points. */
  readonly least: number
}
const shareTask = (email: string): ShareTask => ({ kind: 'share', email, times: 1, by: shop })
const paths: Readonly<Record<string, Path>> = {
  'a first share': { dies: shareTask, asks: shop, answers: begun, redeemed: 1, least: 7 },
  'a take-over of what never arrived': {
    before: { by: otherShop, loses: 'before' },
    ...{ dies: shareTask, asks: shop, answers: begun, redeemed: 1, least: 12 },
  },
  'a take-over of what was redeemed for another': {
    before: { by: otherShop, loses: 'after' },
    ...{ dies: shareTask, asks: shop, answers: { code: 'ERR_VERIFICATION_UNAVAILABLE' }, redeemed: 1, least: 9 },
  },
  'a retry after RED': {
    before: { by: shop, review: rejected },
    ...{ dies: shareTask, asks: shop, answers: begun, redeemed: 2, least: 7 },
  },
  'a webhook that attaches': {
    before: { by: otherShop, loses: 'after' },
    dies: (_, externalUserId) => ({ kind: 'webhook', externalUserId, review: pending }),
    ...{ asks: otherShop, answers: { reused: false }, redeemed: 1, least: 2 },
  },
  'a poll that looks up': {
    before: { by: otherShop, loses: 'after' },
    dies: () => ({ kind: 'poll' }),
    ...{ asks: otherShop, answers: { reused: false }, redeemed: 1, least: 5 },
  },
}

describe.skipIf(postgresMissing)(
  `sharing in processes${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let postgres: TestPostgres
    let provider: Server
    /** The names that were redeemed, in order. */
    const redeemed: string[] = []
    const children: Child[] = []
    compileChild('share')
    beforeAll(async () => {
      postgres = await startPostgres({ fsync: false })
      await migrated('races')
      provider = createServer(({ url = '' }, response) => {
        const { pathname, searchParams } = new URL(url, 'http://provider.invalid')
        const name = searchParams.get('externalUserId') ?? ''
        if (pathname === '/redeem') redeemed.push(name)
        const answer = redeemed.includes(name) ? { applicantId: `applicant of ${name}`, review: null } : null
        response.end(JSON.stringify(answer))
      })
      await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    })
    afterEach(async () => {
      for (const { process: child, ended } of children.splice(0)) {
        child.stdin.end()
        await ended
      }
    })
    afterAll(async () => {
      provider?.close()
      await postgres?.remove()
    })

    async function migrated(schema: string): Promise<void> {
      const store = createPostgresStore({ connectionString: postgres.connectionString, schema })
      await store.migrate()
      await store.close()
    }
    function startSharing(schema: string, aheadMs = 0, diesAt = 0): Child {
      const { port } = provider.address() as AddressInfo
      const provided = `http://127.0.0.1:${port}`
      const child = startChild('share', postgres.connectionString, schema, provided, `${aheadMs}`, `${diesAt}`)
      children.push(child)
      return child
    }
    async function run(child: Child, task: ShareTask): Promise<Result> {
      const line = nextLine(child)
      child.process.stdin.write(`${JSON.stringify(task)}\n`)
      return JSON.parse(await line) as Result
    }

    test.each(Object.entries(paths))(
      'killed at its await points, %s is redeemed never twice, and never not at all',
      async (what, path) => {
        const schema = `kills_${Object.keys(paths).indexOf(what)}`
        await migrated(schema)
        const preparing = startSharing(schema)
        const healthy = startSharing(schema, 3 * redemptionLeaseMs)
        /** Prepares the database; resolves the redeemed name. */
        async function prepare(email: string): Promise<string> {
          redeemed.length = 0
          if (path.before === undefined) return ''
          const { by, loses, review } = path.before
          await run(preparing, { kind: 'share', email, times: 1, by, ...(loses === undefined ? {} : { loses }) })
          const [name = ''] = redeemed
          if (review !== undefined) await run(preparing, { kind: 'webhook', externalUserId: name, review })
          return name
        }
        const address = (point: number) => `${what.replaceAll(' ', '.')}.${point}@example.com`
        // This clock is past the end of the lease, and behind the clock of the next process.
        const whole = startSharing(schema, redemptionLeaseMs + 1_000)
        const { passed: points } = await run(whole, path.dies(address(0), await prepare(address(0))))
        expect(points).toBeGreaterThanOrEqual(path.least)
        for (let point = 1; point <= points; point += 1) {
          const name = await prepare(address(point))
          const dying = startSharing(schema, redemptionLeaseMs + 1_000, point)
          dying.process.stdin.write(`${JSON.stringify(path.dies(address(point), name))}\n`)
          expect(await dying.ended, `point ${point}`).toBeNull()
          expect(redeemed.length).toBeLessThanOrEqual(path.redeemed)
          const { answers } = await run(healthy, { kind: 'share', email: address(point), times: 1, by: path.asks })
          expect(answers, `point ${point}`).toMatchObject([path.answers])
          expect(redeemed, `point ${point}`).toHaveLength(path.redeemed)
          expect(new Set(redeemed).size, `point ${point}`).toBe(path.redeemed)
        }
      },
    )
  },
)
