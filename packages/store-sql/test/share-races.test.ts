import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { claimLeaseMs } from '@payment-integration/core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createPostgresStore } from '../src/exports/index.js'
import { postgresMissing, startPostgres, type TestPostgres } from './postgres.js'
import { type Child, nextLine, startChild } from './support/child.js'

const rounds = process.env['CI'] === undefined ? 10 : 200
const begun = { reviewStatus: 'init', reviewAnswer: null, rejectType: null, rejectLabels: [] }

interface Said {
  readonly answers: readonly { readonly reused: boolean; readonly reviewStatus: string }[]
  readonly passed: number
}

describe.skipIf(postgresMissing)(
  `sharing in processes${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let postgres: TestPostgres
    let provider: Server
    /** The names that were redeemed, in order. */
    const redeemed: string[] = []
    const children: Child[] = []
    beforeAll(async () => {
      postgres = await startPostgres()
      await migrated('races')
      await migrated('kills')
      provider = createServer(({ url = '' }, response) => {
        const { pathname, searchParams } = new URL(url, 'http://provider.invalid')
        const name = searchParams.get('externalUserId') ?? ''
        if (pathname === '/redeem') redeemed.push(name)
        const answer = redeemed.includes(name) ? { applicantId: `applicant of ${name}`, review: null } : null
        response.end(JSON.stringify(answer))
      })
      await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    }, 60_000)
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
    async function share(child: Child, email: string, times: number): Promise<Said> {
      const line = nextLine(child)
      child.process.stdin.write(`${email} ${times}\n`)
      return JSON.parse(await line) as Said
    }

    test(`of fifty at once in two processes one redeems and the others keep their tokens, ${rounds} times`, {
      timeout: 30_000 + rounds * 2_000,
    }, async () => {
      const pair = [startSharing('races'), startSharing('races')]
      for (let round = 0; round < rounds; round += 1) {
        redeemed.length = 0
        const said = await Promise.all(pair.map((child) => share(child, `user${round}@example.com`, 25)))
        const answers = said.flatMap((each) => each.answers)
        expect(
          answers.filter(({ reused }) => reused),
          `round ${round}`,
        ).toEqual([{ ...begun, reused: true }])
        expect(answers).toHaveLength(50)
        expect(redeemed, `round ${round}`).toHaveLength(1)
      }
    })

    test('killed at each await point, the token is redeemed once in the end', { timeout: 120_000 }, async () => {
      const healthy = startSharing('kills', 2 * claimLeaseMs)
      const early = startSharing('kills')
      const { passed: points } = await share(early, 'whole@example.com', 1)
      expect(points).toBeGreaterThanOrEqual(10)
      for (let point = 1; point <= points; point += 1) {
        redeemed.length = 0
        const email = `killed${point}@example.com`
        const dying = startSharing('kills', 0, point)
        dying.process.stdin.write(`${email} 1\n`)
        expect(await dying.ended, `point ${point}`).toBeNull()
        expect(redeemed.length).toBeLessThanOrEqual(1)
        const { answers } = await share(healthy, email, 1)
        expect(answers, `point ${point}`).toMatchObject([begun])
        expect(redeemed, `point ${point}`).toHaveLength(1)
      }
    })
  },
)
