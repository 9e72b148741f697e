/** An operation's outcome is one that the states and the provider's answers during it explain. @module */
import type { ProviderCall } from '../fake-provider.js'
import type { ShareOutcome, View } from '../system-under-test.js'
import type { Operation } from '../world.js'
import { type Begun, type Case, type Commit, demand, type Watched } from './case.js'
import { answered, isOpen, justBegun } from './person.js'
import { getRow, getState } from './redemptions.js'

const unavailable = JSON.stringify({ kind: 'unavailable' })
const misconfigured = JSON.stringify({ kind: 'misconfigured' })
const isFailure = ({ answer }: ProviderCall) => answer === null || answer.kind !== 'answer'

export function judgeOutcome(known: Case, watched: Watched, view: View): void {
  const { operation, answers } = watched
  const { call, outcome, number } = operation
  demand(operation.state !== 'failed', () => `operation ${number} rejects: ${outcome}`)
  if (call.kind === 'share') judgeShare(known, watched, view)
  else {
    if (call.kind === 'poll') answers.add('{"kind":"done"}')
    if (call.kind === 'webhook') answers.add('{"kind":"accepted"}')
    if (call.kind === 'operator') addWords(known, watched, call)
    const commits = [...known.commits, ...known.possible]
    for (const commit of commits) for (const answer of commit.get(operation) ?? []) answers.add(answer)
    const text = JSON.stringify(outcome)
    const list = () => [...answers].join(' ') || 'none'
    demand(answers.has(text), () => `operation ${number} must not answer ${text}; right are: ${list()}`)
    const isTwice = call.kind === 'register' && known.registered.has(text)
    if (call.kind === 'register') known.registered.add(text)
    demand(!isTwice, () => `two registrations made one account: ${text}`)
  }
}

/** Each change of the owners is one that some operation answered for, or died with. */
export function judgeCommits(known: Case, ended: Operation): void {
  for (const commit of known.commits) {
    if (!commit.has(ended)) continue
    const isSaid = [...commit].some(
      ([{ state, outcome }, right]) => state === 'running' || state === 'killed' || right.has(JSON.stringify(outcome)),
    )
    demand(isSaid, () => `no operation answers for a change: ${toText(commit)}`)
  }
}

export const toText = (commit: Commit) => [...commit.values()].flatMap((right) => [...right]).join(' ')

function addWords(known: Case, watched: Watched, call: Extract<Operation['call'], { kind: 'operator' }>): void {
  const { operation, answers, callsBefore } = watched
  const calls = known.provider.calls.slice(callsBefore)
  if (calls.some((one) => one.process === operation.process && isFailure(one))) answers.add(unavailable)
  const truth = known.provider.applicants.get(call.externalUserId)?.applicantId ?? null
  if (truth !== call.applicantId) answers.add('{"kind":"rejected"}')
}

function judgeShare(known: Case, watched: Watched, view: View): void {
  const { operation, answers } = watched
  const outcome = operation.outcome as ShareOutcome
  const mine = [...known.begun.values()].filter(({ shares }) => shares.includes(operation))
  const only = mine.filter(({ shares }) => shares.length === 1).at(-1)
  addLookUps(known, watched)
  const right = new Map<string, Begun | null>()
  const isUnsent = only !== undefined && !wasSent(known, only)
  if (only === undefined || isUnsent) for (const answer of answers) right.set(answer, null)
  for (const begun of only === undefined ? mine : [only]) {
    for (const answer of ownAnswers(known, watched, begun, view)) right.set(answer, begun)
  }
  const { former, ...rest } = outcome as { former?: unknown }
  const text = JSON.stringify(outcome.kind === 'answered' ? answered(outcome, outcome.reused) : rest)
  const list = [...right.keys()].join(' ') || 'none'
  demand(right.has(text), () => `operation ${operation.number} must not answer ${text}; right are: ${list}`)
  if (former !== undefined) {
    const isRight = watched.former.has(JSON.stringify(former))
    demand(isRight, () => `operation ${operation.number} answers a former verdict ${JSON.stringify(former)}`)
  }
  const begun = right.get(text)
  if (begun == null || outcome.kind !== 'answered') return
  demand(begun.answeredBy === null, () => `two shares redeemed ${begun.externalUserId}`)
  begun.answeredBy = operation
}

const wasSent = (known: Case, { externalUserId }: Begun) =>
  known.provider.calls.some(
    ({ kind, name, result }) => kind === 'redeem' && name === externalUserId && result?.kind !== 'unsent',
  )

/** A look-up without an answer lets a share answer 503, or 502 when the service's own credentials were rejected. */
function addLookUps(known: Case, { operation, answers, lookedUp, absent, callsBefore, waiting }: Watched): void {
  if (lookedUp.size > 0 && !known.provider.findsByName) answers.add(unavailable)
  for (const [index, call] of known.provider.calls.entries()) {
    const isIts = lookedUp.has(call.name) || absent.has(call.name)
    if (call.kind !== 'find' || call.process !== operation.process || !isIts) continue
    if (index < callsBefore && !waiting.has(call)) continue
    if (isFailure(call)) answers.add(unavailable)
    if (call.answer?.kind === 'misconfigured') answers.add(misconfigured)
  }
}

/** What a share may answer that began a redemption, by what its process heard of it. */
function ownAnswers(known: Case, { operation }: Watched, begun: Begun, view: View): string[] {
  const name = begun.externalUserId
  const calls = known.provider.calls.filter((one) => one.name === name && one.process === operation.process)
  const sent = calls.find(({ kind }) => kind === 'redeem')
  const state = getState(view, name)
  const heard = sent?.answer ?? null
  if (heard === null || heard.kind === 'unsent' || heard.kind === 'throttled') return [unavailable]
  if (heard.kind === 'misconfigured') return [misconfigured]
  if (heard.kind === 'rejected') return [JSON.stringify({ kind: 'rejected', message: heard.message })]
  const finds = calls.filter(({ kind }) => kind === 'find')
  const found = [sent, ...finds].map((call) => reviewIn(call)).filter((review) => review !== null)
  const success = [...begun.told, ...found.map((review) => JSON.stringify(answered(review, true)))]
  const donor = view.subjects.find(({ id }) => id === begun.subjectId)?.donor ?? null
  if (state === 'surplus' && donor !== begun.integration) success.push(JSON.stringify({ kind: 'conflict' }))
  if (heard.kind === 'redeemed') return success
  const row = getRow(view, name)
  const mustAsk = known.provider.findsByName && row !== undefined && isOpen(row)
  if (mustAsk && finds.length === 0) return []
  // Another share of the same process may have looked the name up, too: each heard its own answer.
  const isFound = finds.some((call) => reviewIn(call) !== null)
  const isMissed = finds.some((call) => call.answer !== null && reviewIn(call) === null)
  if (isFound && !isMissed) return success
  const isOurFault = finds.some(({ answer }) => answer?.kind === 'misconfigured')
  return [unavailable, ...(isOurFault ? [misconfigured] : []), ...(isFound || state === 'attached' ? success : [])]
}

/** The review of the applicant that a call told, null when it told none. */
function reviewIn(call: ProviderCall | undefined) {
  const answer = call?.answer
  if (answer?.kind === 'redeemed') return answer.applicant.review ?? justBegun
  if (answer?.kind !== 'answer' || answer.value === null || !('applicantId' in answer.value)) return null
  return answer.value.review ?? justBegun
}
