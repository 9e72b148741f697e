/** Judges a history step by step: each change of the view and each outcome must be explained. @module */
import type { FakeProvider } from '../fake-provider.js'
import type { Operation } from '../operations.js'
import type { View, WebhookEvent } from '../system-under-test.js'
import { type Case, demand, type Watched } from './case.js'
import { judgeCommits, judgeOutcome } from './outcomes.js'
import { judgeDirect, judgeOwners } from './owners.js'
import { isEmpty } from './ownership.js'
import { judgeRedemptions } from './redemptions.js'
import { judgeHealed, judgeReviews } from './reviews.js'
import { observe, watch } from './watch.js'
import { judgeWebhook } from './webhooks.js'

export interface Judge {
  /** An operation was called: `view` is the state after its first step. */
  called(operation: Operation): void
  /** One step was made. Throws `Broken` when a promise was broken. */
  step(view: View, now: number): void
  healed(view: View): void
  /** The event counted once for certain: by a webhook that ran alone and changed the review. */
  hasCounted(event: WebhookEvent): boolean
  readonly view: View
}

const nothing: View = { subjects: [], redemptions: [], direct: [], accounts: [] }

export function judge(provider: FakeProvider): Judge {
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
    called(operation) {
      const watched = watch(known, operation, last)
      observe(watched, { before: last, after: last, now: operation.calledAt })
    },
    step(seen, now) {
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
    healed(view) {
      demand(known.watched.size === 0, () => 'an operation never ends')
      judgeHealed(known, view)
    },
    hasCounted: ({ key }) => known.counted.has(key),
    get view() {
      return last
    },
  }
}

const withoutEmpty = (view: View): View => ({
  ...view,
  subjects: view.subjects.filter((subject) => !isEmpty(view, subject)),
})
