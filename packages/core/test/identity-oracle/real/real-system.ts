/** The real use cases as the system under test, on SQLite unless another store is given. @module */
import { expect, test } from 'vitest'
import { parseMasterKey } from '../../../src/secrets/keys.js'
import { firstFinding, report, seedsAsked } from '../history.js'
import type { Service, SubjectView, SystemUnderTest, View } from '../system-under-test.js'
import { type Backend, type OpenBackend, type Rows, sqliteBackend } from './backend.js'
import { realProcess, storeCalls } from './real-process.js'

const masterKey = parseMasterKey('a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90')

export function realSystem(open: OpenBackend = sqliteBackend): SystemUnderTest {
  /** Addresses by their keyed hash. */
  const emails = new Map<string, string>()
  const calls = storeCalls()
  let now = () => 0
  let opening: Promise<Backend> | undefined
  const backend = () => {
    opening ??= Promise.resolve(open({ now: () => now() }))
    return opening
  }
  const processes: Service[] = []
  let view: { readonly at: number; readonly view: View } | undefined
  return {
    async start(surroundings) {
      now = () => surroundings.clock.now()
      const { connect, waiting } = await backend()
      const parts = { store: await connect(), calls, emails, masterKey, surroundings }
      const process = await realProcess({ ...parts, pausesInside: waiting !== undefined })
      processes.push(process)
      return process
    },
    settle: async () => calls.settled((await backend()).waiting),
    async views() {
      const at = calls.ended()
      if (view?.at !== at) view = { at, view: getView(await (await backend()).rows(), emails) }
      return view.view
    },
    async close() {
      const { waiting, close } = await backend()
      for (const process of processes) await process.kill()
      await calls.settled(waiting)
      await close()
    },
  }
}

function getView({ subjects, redemptions, accounts }: Rows, emails: ReadonlyMap<string, string>): View {
  const address = (key: string) => emails.get(key) ?? key
  return {
    subjects: subjects.flatMap((row): SubjectView[] => {
      const { id, emailKey, accountId, proved, closed, donor, applicantId, attachedAt, missing } = row
      if (emailKey === null) return []
      return [
        {
          ...{ id, address: address(emailKey), accountId, proved, closed },
          ...{ donor, applicantId, attachedAt, review: datedReview(row), gone: missing?.confirmed === true },
        },
      ]
    }),
    direct: subjects.flatMap(({ emailKey, accountId, applicantId, review, reviewedAt }) =>
      emailKey === null && accountId !== null && review !== null
        ? [{ accountId, applicantId, review: { review, reviewedAt } }]
        : [],
    ),
    redemptions: redemptions.map(
      ({ externalUserId, subjectId, integrationAddress, state, leasedUntil, applicantId }) => ({
        ...{ externalUserId, subjectId, integration: integrationAddress },
        // A rejected token, and a name that somebody else has, used none.
        state: state === 'unused' || state === 'foreign' ? 'absent' : state,
        ...{ leaseUntil: leasedUntil, applicantId },
      }),
    ),
    accounts: accounts.map(({ accountId, emailKey, verified }) => ({
      ...{ accountId, carries: emailKey && address(emailKey), verified },
    })),
  }
}

/** The provider's times alone: a status without one has the service's own in its row. */
function datedReview({ review, reviewedAt }: Rows['subjects'][number]) {
  return review && { review, reviewedAt: review.reviewStatus === 'completed' ? reviewedAt : null }
}

/** Registers the test. @param options.count - Histories, from the first seed on. */
export function testPromises({ count }: { readonly count: number }): void {
  test(`the use cases break no rule in ${count} histories`, async () => {
    const finding = await firstFinding(seedsAsked(count), () => realSystem())
    expect(finding && report(finding)).toBeNull()
  })
}
