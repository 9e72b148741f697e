/** Judges a history step by step: each change of the view and each outcome must be explained. @module */
import type { FakeProvider } from '../fake-provider.js'
import type { View, WebhookEvent } from '../system-under-test.js'
import type { Operation } from '../world.js'
import { type Case, demand, type Watched } from './case.js'
import { judgeCommits, judgeOutcome } from './outcomes.js'
import { judgeDirect, judgeOwners } from './owners.js'
import { isEmpty } from './ownership.js'
import { judgeRedemptions } from './redemptions.js'
import { judgeHealed, judgeReviews, judgeWebhook } from './reviews.js'
import { observe, watch } from './watch.js'

export type Judge = ReturnType<typeof judge>

const nothing: View = { subjects: [], redemptions: [], direct: [], accounts: [] }

export function judge(provider: FakeProvider) {
  const known: Case = {
    ...{ provider, begun: new Map(), watched: new Map(), commits: [], counted: new Set(), registered: new Set() },
    ...{ possible: [], goneAt: new Map(), accepted: new Set(), seenCalls: 0 },
  }
  let last = nothing
  let lastText = ''

  const finish = (watched: Watched) => {
    const { operation } = watched
    known.watched.delete(operation)
    if (operation.state !== 'killed') judgeOutcome(known, watched, last)
    judgeCommits(known, operation)
    if (operation.call.kind === 'webhook' && operation.state === 'done')
      judgeWebhook(known, watched, operation.call.event, last)
  }
  return {
    /** Watches an operation that was just called. */
    called(operation: Operation) {
      const watched = watch(known, operation, last)
      observe(watched, { before: last, after: last, now: operation.calledAt })
    },
    /** One step was made. Throws `Broken` when a promise was broken. */
    step(seen: View, now: number) {
      const view = withoutEmpty(seen)
      const change = { before: last, after: view, now }
      const text = JSON.stringify(view)
      if (text !== lastText) {
        judgeOwners(known, change)
        judgeDirect(known, change)
      }
      judgeRedemptions(known, change)
      if (text !== lastText) judgeReviews(known, change)
      for (const watched of known.watched.values()) observe(watched, change)
      last = view
      lastText = text
      for (const watched of [...known.watched.values()]) if (watched.operation.state !== 'running') finish(watched)
    },
    healed(view: View) {
      demand(known.watched.size === 0, () => 'an operation never ends')
      judgeHealed(known, view)
    },
    /** The event counted once for certain: by a webhook that ran alone and changed the review. */
    hasCounted: ({ key }: WebhookEvent) => known.counted.has(key),
    get view(): View {
      return last
    },
  }
}

const withoutEmpty = (view: View): View => ({
  ...view,
  subjects: view.subjects.filter((subject) => !isEmpty(view, subject)),
})
