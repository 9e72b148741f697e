/** Redemptions begin, end and are kept as rule 6 says; what the provider did is the truth. @module */
import { type ProviderCall, signatureMs } from '../fake-provider.js'
import type { RedemptionView, View } from '../system-under-test.js'
import { type Begun, type Case, type Change, demand } from './case.js'
import { decisions, isOpen, leaseRuns } from './person.js'

const leaseMs = 120_000
const notLanded: readonly (string | undefined)[] = ['throttled', 'misconfigured', 'rejected', 'unsent']

export const getRow = (view: View, name: string) =>
  view.redemptions.find(({ externalUserId }) => externalUserId === name)
export const getState = (view: View, name: string) => getRow(view, name)?.state ?? 'absent'

export function judgeRedemptions(known: Case, change: Change): void {
  const { before, after } = change
  for (const row of after.redemptions) {
    const begun = known.begun.get(row.externalUserId)
    if (begun === undefined) judgeBegin(known, row, change)
    else {
      const isSame = begun.subjectId === row.subjectId && begun.integration === row.integration
      demand(isSame, () => `redemption ${row.externalUserId} left its subject or its integration`)
    }
  }
  for (const begun of known.begun.values()) {
    const [from, to] = [getState(before, begun.externalUserId), getState(after, begun.externalUserId)]
    if (from !== to && getRow(before, begun.externalUserId) !== undefined) judgeEnd(known, begun, change)
  }
  judgeCalls(known, change)
  for (const { externalUserId } of known.provider.applicants.values()) {
    const isLost = getState(after, externalUserId) === 'absent' && !known.begun.get(externalUserId)?.operatorSaidAbsent
    demand(!isLost, () => `the applicant of ${externalUserId} is lost`)
  }
}

function judgeBegin(known: Case, row: RedemptionView, { before, after, now }: Change): void {
  const name = row.externalUserId
  const subject = after.subjects.find(({ id }) => id === row.subjectId)
  demand(subject !== undefined && row.state === 'in_flight', () => `redemption ${name} begins as ${row.state}`)
  const { address } = subject
  const without: View = { ...after, redemptions: after.redemptions.filter((one) => one !== row) }
  const isOpenThen = [before, after].some((view) => {
    const then = view.subjects.find(({ id }) => id === row.subjectId)
    return then === undefined || !then.closed
  })
  demand(isOpenThen, () => `redemption ${name} begins for a closed subject`)
  const isDue = [without, before].some((view) =>
    decisions(view, now, address, row.integration).some(({ kind }) => kind === 'redeem'),
  )
  demand(isDue, () => `redemption ${name} of ${address} for ${row.integration} must not begin`)
  const { leaseUntil } = row
  const shares = [...known.watched.keys()].filter(
    ({ call, calledAt }) =>
      call.kind === 'share' &&
      call.request.address === address &&
      call.request.integration === row.integration &&
      leaseUntil !== null &&
      calledAt + leaseMs <= leaseUntil,
  )
  demand(shares.length > 0, () => `no share begins redemption ${name}`)
  demand(leaseUntil !== null && leaseUntil <= now + leaseMs, () => `redemption ${name} has a lease until ${leaseUntil}`)
  known.begun.set(name, {
    ...{ externalUserId: name, order: known.begun.size, subjectId: row.subjectId, integration: row.integration },
    ...{ leaseUntil, shares, operatorSaidAbsent: false, answeredBy: null, told: new Set() },
  })
}

function judgeEnd(known: Case, begun: Begun, { before, after, now }: Change): void {
  const name = begun.externalUserId
  const [from, to] = [getState(before, name), getState(after, name)]
  const [was, is] = [getRow(before, name), getRow(after, name)]
  const say = () => `redemption ${name} must not become ${to} after ${from}`
  const wasOpen = was !== undefined && isOpen(was)
  demand(wasOpen || (from === 'absent' && begun.operatorSaidAbsent), say)
  const words = [...known.watched.keys()].flatMap(({ call }) =>
    call.kind === 'operator' && call.externalUserId === name ? [call.applicantId] : [],
  )
  const truth = known.provider.applicants.get(name)
  if (to === 'absent') {
    const mayBe = truth === undefined && !known.provider.canStillLand(name)
    if (!mayBe) begun.operatorSaidAbsent = words.includes(null) && was !== undefined && !leaseRuns(was, now)
    demand(mayBe || begun.operatorSaidAbsent, say)
  } else if (to === 'attached' || to === 'surplus') {
    demand(truth !== undefined && is?.applicantId === truth.applicantId, say)
    const donor = before.subjects.find(({ id }) => id === begun.subjectId)?.donor ?? null
    const isNewerThere = [...known.begun.values()].some(
      ({ subjectId, order, externalUserId }) =>
        subjectId === begun.subjectId && order > begun.order && getState(after, externalUserId) === 'attached',
    )
    const isInTheWay = isNewerThere || (donor !== null && donor !== begun.integration)
    demand(isInTheWay === (to === 'surplus'), say)
  } else {
    const isLost = known.provider.calls.some(({ name: of, kind, answer }) => {
      return of === name && kind === 'redeem' && answer?.kind === 'unknown'
    })
    demand((to === 'unresolved') === !known.provider.findsByName || to === 'unknown', say)
    demand(to !== 'in_flight' && (isLost || now >= begun.leaseUntil), say)
  }
}

/** Every token is sent for the redemption that was begun with it. */
function judgeCalls(known: Case, { before, after }: Change): void {
  const { calls } = known.provider
  for (; known.seenCalls < calls.length; known.seenCalls += 1) {
    const call = calls[known.seenCalls]
    if (call?.kind !== 'redeem' || call.result?.kind === 'unsent') continue
    const begun = known.begun.get(call.name)
    const row = getRow(before, call.name) ?? getRow(after, call.name)
    demand(begun !== undefined && row !== undefined && isOpen(row), () => `${call.name} is sent, and is not in flight`)
    demand(call.sendBy + signatureMs <= begun.leaseUntil, () => `${call.name} may arrive after its lease`)
    const earlier = calls.filter((one) => one !== call && one.kind === 'redeem' && one.name === call.name)
    demand(earlier.every(wasNotRedeemed), () => `${call.name} is sent a second time`)
    begun.shares = begun.shares.filter(
      (share) =>
        share.process === call.process && share.call.kind === 'share' && share.call.request.token === call.token,
    )
    demand(begun.shares.length > 0, () => `${call.name} is sent with a token of another share: ${call.token}`)
  }
}
const wasNotRedeemed = ({ result }: ProviderCall) => notLanded.includes(result?.kind)
