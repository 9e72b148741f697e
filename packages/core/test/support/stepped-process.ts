/** A service that stops at one of its calls of the store or the provider: for a while, or for ever. @module */
import type { Identity } from '../../src/identity-types.js'
import type { IdentityProvider } from '../../src/ports/identity-provider.js'
import type { Store } from '../../src/ports/store.js'
import type { identitySetup } from './identity-setup.js'

/** The service, and where it stands. */
export interface SteppedProcess {
  readonly identity: Identity
  /** The name of the await where it stands, or null: it never got there. */
  stoppedAt(): string | null
  /** Lets it go on. */
  thaw(): void
}

/** A service on the parts of a setup that stops at its n-th await, from 1. */
export function steppedProcess(setup: ReturnType<typeof identitySetup>, stopsAt: number): SteppedProcess {
  const { store, provider, start } = setup
  let passed = 0
  let stopped: string | null = null
  let thaw: () => void = () => undefined
  const thawed = new Promise<void>((resolve) => {
    thaw = resolve
  })
  const cross = async (point: string): Promise<void> => {
    passed += 1
    if (passed !== stopsAt) return
    stopped = point
    await thawed
  }
  async function crossing<T>(what: string, work: () => Promise<T>): Promise<T> {
    await cross(`before ${what}`)
    const value = await work()
    await cross(`after ${what}`)
    return value
  }

  const transaction: Store['transaction'] = (work) => crossing('a transaction', () => store.transaction(work))
  const { dueLookUps, duePolls, ...reads } = store.identity
  const ownStore: Store = {
    ...store,
    transaction,
    identity: {
      ...reads,
      dueLookUps: (limit) => crossing('due look-ups', () => dueLookUps(limit)),
      duePolls: (limit) => crossing('due polls', () => duePolls(limit)),
    },
  }
  const ownProvider: IdentityProvider = {
    get levelName() {
      return provider.levelName
    },
    get findsByName() {
      return provider.findsByName
    },
    redeem: (request) => crossing('redeem', () => inside('redeem', () => provider.redeem(request))),
    find: (name) => crossing('find', () => inside('find', () => provider.find(name))),
    review: (applicantId) => crossing('review', () => inside('review', () => provider.review(applicantId))),
  }
  /** Stops inside of its own calls alone: the calls of others are made while it stands. */
  async function inside<T>(call: string, work: () => Promise<T>): Promise<T> {
    const before = provider.pause
    provider.pause = async (_, half) => {
      if (half === 'work') return
      const own = provider.pause
      provider.pause = before
      await cross(`the ${half} of ${call}`)
      provider.pause = own
    }
    try {
      return await work()
    } finally {
      provider.pause = before
    }
  }
  return {
    identity: start({ store: ownStore, provider: ownProvider }),
    stoppedAt: () => stopped,
    thaw: () => thaw(),
  }
}
