import { StoreError } from '../../src/errors.js'
import type { ServiceEvent } from '../../src/events.js'
import type { DispatcherOptions } from '../../src/notifications/dispatch-run.js'
import { createDispatcher } from '../../src/notifications/dispatcher.js'
import type { PostRequest, PostResult } from '../../src/ports/runtime.js'
import { manualClock } from './manual-clock.js'
import { getAddress, getOutbox, numbered } from './outbox.js'
import { recordingLogger } from './recording-logger.js'
import { seededRandom } from './seeded-random.js'
import { openStore } from './store.js'
import { start } from './until.js'

export const ok: PostResult = { kind: 'answer', status: 200, retryAfter: null, excerpt: null, latencyMs: 7 }
/** What a locked database rejects with. */
export const busy = () => new StoreError('ERR_STORE_BUSY', 'database is locked')
/** The secret that every sealed one opens to, but for the one before a rotation. */
export const signingSecret = 'signing-secret-of-the-integration'
/** The secret that `previous` opens to, as a sealed text. */
export const previousSecret = 'previous-secret-of-the-integration'

/** A dispatcher on an outbox. `answer` plays the endpoint; by default every post is answered 200. */
export function setUpDispatcher(
  options: DispatcherOptions = {},
  answer: (post: PostRequest) => Promise<PostResult> | PostResult = () => ok,
) {
  const clock = manualClock()
  const store = openStore({ clock })
  const deliveries = getOutbox(store)
  const posts: PostRequest[] = []
  const events: ServiceEvent[] = []
  const logger = recordingLogger()
  const opened: unknown[] = []
  const dispatcher = createDispatcher({
    store: { deliveries },
    sender: {
      async post(post) {
        posts.push(post)
        return answer(post)
      },
    },
    openSecret(sealed, integrationAddress) {
      opened.push([sealed, integrationAddress])
      if (sealed.sealed === 'unreadable') throw new Error(`cannot open ${signingSecret}`)
      if (sealed.sealed === 'previous') return previousSecret
      return sealed.sealed === 'blank' ? '' : signingSecret
    },
    clock,
    random: { ...seededRandom(1), fraction: () => 0.5 },
    publish: (event) => void events.push(event),
    logger,
    options,
  })
  const attempts = () => events.filter((event) => event.type === 'delivery.attempted')
  return { clock, store, deliveries, posts, events, attempts, logger, opened, dispatcher }
}

/** Calls `before` with each group that is settled: a store that rejects throws, a slow one waits. */
export function beforeSettle(
  { deliveries }: Pick<ReturnType<typeof setUpDispatcher>, 'deliveries'>,
  before: (group: Parameters<typeof deliveries.settle>[0]) => unknown,
) {
  const { settle } = deliveries
  deliveries.settle = async (group, judge) => {
    await before(group)
    return settle(group, judge)
  }
}

/** A running dispatcher with deliveries of as many endpoints. */
export async function running(count: number, setup: ReturnType<typeof setUpDispatcher>) {
  await setup.deliveries.add(...numbered(count).map(({ name }) => ({ name, integrationAddress: getAddress(name) })))
  return { ...setup, stop: start(setup.dispatcher).stop }
}
