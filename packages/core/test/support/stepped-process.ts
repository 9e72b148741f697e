import { createShare } from '../../src/identity/share.js'
import { createVerdicts } from '../../src/identity/verdicts.js'
import type { IdentityProvider } from '../../src/ports/identity-provider.js'
import type { Store } from '../../src/ports/store.js'
import type { shareSetup } from './share-setup.js'

/** A process that stops at one of its await points: for a while, or for ever. */
export interface SteppedProcess {
  readonly share: ReturnType<typeof createShare>
  readonly verdicts: ReturnType<typeof createVerdicts>
  /** The name of the point where it stands, or null: it never got there. */
  stoppedAt(): string | null
  /** Lets it go on. */
  thaw(): void
}

/** A process on the parts of a setup that stops at its n-th await point, from 1. */
export function steppedProcess(setup: ReturnType<typeof shareSetup>, stopsAt: number): SteppedProcess {
  const { store, provider, accounts, emails, clock, ids, logger, holdsAddresses } = setup
  let passed = 0
  let stopped: string | null = null
  let thaw: () => void = () => undefined
  const thawed = new Promise<void>((resolve) => {
    thaw = resolve
  })

  async function cross(point: string): Promise<void> {
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
  const ownStore: Pick<Store, 'transaction' | 'verifications'> = {
    verifications: {
      ...store.verifications,
      dueForQuestion: (limit) => crossing('what is due', () => store.verifications.dueForQuestion(limit)),
    },
    transaction: (work) => crossing('a transaction', () => store.transaction(work)),
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
  const deps = { accounts, provider: ownProvider, emails, clock, ids, logger, store: ownStore, holdsAddresses }
  return {
    share: createShare(deps),
    verdicts: createVerdicts(deps),
    stoppedAt: () => stopped,
    thaw: () => thaw(),
  }
}
