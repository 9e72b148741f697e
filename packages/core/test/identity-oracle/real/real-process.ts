/** A process that runs the real use cases. @module */
import { EmailProofError, IdentityUnavailableError } from '../../../src/errors.js'
import { createIdentity } from '../../../src/identity/identity.js'
import type { IdentityProvider } from '../../../src/ports/identity.js'
import type { Logger } from '../../../src/ports/runtime.js'
import type { Store } from '../../../src/ports/store.js'
import type { MasterKey } from '../../../src/secrets/keys.js'
import type { Call, Service, ShareOutcome, Surroundings } from '../system-under-test.js'
import type { IdentityPorts } from './backend.js'

/** Counts the store calls of all processes, so that the oracle can wait for them. */
export function storeCalls() {
  let running = 0
  let ended = 0
  return {
    async run<T>(call: () => Promise<T>): Promise<T> {
      running += 1
      try {
        return await call()
      } finally {
        running -= 1
        ended += 1
      }
    },
    /** Waits for a pause within one. */
    async rest(pause: () => Promise<void>) {
      running -= 1
      try {
        await pause()
      } finally {
        running += 1
      }
    },
    /** How many have ended. */
    ended: () => ended,
    /** Resolves once each has ended, rests or waits for a lock, and what waited for them has come to its next pause. */
    async settled(waiting: (() => Promise<number>) | undefined) {
      do await new Promise((resolve) => setImmediate(resolve))
      while (running > 0 && (waiting === undefined || (await waiting()) < running))
    },
  }
}

type StoreCalls = ReturnType<typeof storeCalls>

interface ProcessParts {
  readonly store: IdentityPorts
  readonly calls: StoreCalls
  /** Addresses by their keyed hash. */
  readonly emails: Map<string, string>
  readonly masterKey: MasterKey
  readonly surroundings: Surroundings
  /** Whether transactions run beside each other. */
  readonly pausesInside: boolean
}

const nothing = () => undefined
const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }

export async function realProcess(parts: ProcessParts): Promise<Service> {
  const { store, calls, emails, masterKey, surroundings, pausesInside } = parts
  const { clock, provider, random, ids } = surroundings
  const { pause, kill } = mortal(surroundings)
  const identity = createIdentity({
    ...{ store: pausedStore(store, { pause, calls, pausesInside }), provider: pausedProvider(provider, pause) },
    ...{ masterKey, clock, random, ids, logger: silent, actor: 'oracle' },
  })
  const accounts = await identity.accounts()
  const perform: { [Kind in Call['kind']]: (call: Extract<Call, { kind: Kind }>) => Promise<unknown> } = {
    async register({ address }) {
      const { accountId } = await accounts.register(address)
      return { kind: 'done', accountId }
    },
    async prove({ address, accountId }) {
      for (;;) {
        const { code } = await accounts.requestCode(address)
        const proof = await failing(accounts.proveByCode(address, code, { accountId }))
        if (!(proof instanceof Error)) return { kind: 'done', accountId: proof.accountId }
        // Somebody else asked for a code meanwhile, or it expired: its owner asks for the next.
        if (!(proof instanceof EmailProofError || proof instanceof IdentityUnavailableError)) throw proof
      }
    },
    async attest({ address, integration, accountId }) {
      for (;;) {
        const proof = await failing(accounts.proveByAttestation(address, integration, { accountId }))
        if (!(proof instanceof Error)) return { kind: 'done', accountId: proof.accountId }
        if (proof instanceof EmailProofError) return { kind: 'rejected' }
        if (!(proof instanceof IdentityUnavailableError)) throw proof
      }
    },
    direct: async ({ direct }) => ({ kind: await identity.recordDirect(direct) }),
    async share({ request: { address, integration, token } }) {
      const input = { integrationAddress: integration, email: address, shareToken: token }
      const answer = await failing(identity.share(input))
      return answer instanceof Error ? getFailure(answer) : { kind: 'answered', ...answer }
    },
    async webhook({ event: { key, ...event } }) {
      await identity.applyVerdict({ eventKey: key, ...event })
      return { kind: 'accepted' }
    },
    async poll() {
      await identity.pollDue()
      return { kind: 'done' }
    },
    async operator({ externalUserId, applicantId }) {
      const result = await failing(identity.resolveRedemption({ externalUserId, applicantId }))
      if (result instanceof Error) {
        if (isUnavailable(result)) return { kind: 'unavailable' }
        throw result
      }
      return { kind: result === 'attached' || result === 'surplus' || result === 'absent' ? result : 'rejected' }
    },
  }
  return {
    async perform(call) {
      const address = call.kind === 'share' ? call.request.address : 'address' in call ? call.address : null
      if (address !== null) emails.set(await identity.emailKey(address), address)
      return perform[call.kind](call as never)
    },
    kill,
  }
}

/** Pauses that reject once the process is killed: its open transactions roll back, and it begins no other. */
function mortal({ pause }: Surroundings): Pick<Service, 'kill'> & Pick<Surroundings, 'pause'> {
  let die: (error: Error) => void = nothing
  const dead = new Promise<never>((_, reject) => {
    die = reject
  })
  dead.catch(nothing)
  return {
    pause: (point) => Promise.race([pause(point), dead]),
    kill: async () => die(new Error('the process was killed')),
  }
}

const failing = <T>(call: Promise<T>) => call.catch((error: unknown) => error as Error)
const getCode = (error: Error) => (error as { readonly code?: string }).code
const isUnavailable = (error: Error) =>
  getCode(error) === 'ERR_IDENTITY_UNAVAILABLE' || getCode(error) === 'ERR_IDENTITY_MISCONFIGURED'

function getFailure(
  error: Error & { readonly providerMessage?: string; readonly formerVerdict?: never },
): ShareOutcome {
  const code = getCode(error)
  if (code === 'ERR_VERIFICATION_UNAVAILABLE') return { kind: 'conflict' }
  if (code === 'ERR_IDENTITY_UNAVAILABLE') return { kind: 'unavailable' }
  if (code === 'ERR_IDENTITY_MISCONFIGURED') return { kind: 'misconfigured' }
  if (code !== 'ERR_SHARE_TOKEN_REJECTED') throw error
  return { kind: 'rejected', message: error.providerMessage ?? '', former: error.formerVerdict ?? null }
}

type Pausing = Pick<Surroundings, 'pause'> & Pick<ProcessParts, 'calls' | 'pausesInside'>

/** The statements of a transaction that lock or write what others may wait for. */
const statements = 'ensureSubject lockPersons setOwner addRedemption changeVerification own findAddressOwner'.split(' ')

/** The store with a pause before and after every call, and within transactions where others may run beside them. */
function pausedStore(store: IdentityPorts, { pause, calls, pausesInside }: Pausing): Store {
  const around = async <T>(point: string, call: () => Promise<T>): Promise<T> => {
    await pause(`before ${point}`)
    try {
      return await calls.run(call)
    } finally {
      await pause(`after ${point}`)
    }
  }
  const reads = (['resetOverlongWaits', 'dueLookUps', 'duePolls', 'countMissing', 'forgetEvents'] as const).map(
    (name) => [name, (...given: readonly never[]) => around(name, () => (store.identity[name] as StoreCall)(...given))],
  )
  const rest = (point: string) => calls.rest(() => pause(point))
  const resting = <T extends object>(operations: T): T =>
    Object.fromEntries(
      Object.entries(operations).map(([name, call]: [string, StoreCall]) => {
        if (!statements.includes(name)) return [name, call]
        const rested: StoreCall = async (...given) => {
          await rest(`statement ${name}`)
          return call(...given)
        }
        return [name, rested]
      }),
    ) as T
  const transaction: Store['transaction'] = (work) => {
    if (!pausesInside) return store.transaction(work)
    return store.transaction(async (tx) => {
      const { identity, identityAccounts } = tx
      const value = await work({ ...tx, identity: resting(identity), identityAccounts: resting(identityAccounts) })
      await rest('commit')
      return value
    })
  }
  const paused: IdentityPorts = {
    dataKeys: store.dataKeys,
    identity: { ...store.identity, ...Object.fromEntries(reads) },
    transaction: (work) => around('transaction', () => transaction(work)),
  }
  // Nothing else of a service runs on it.
  return paused as Partial<Store> as Store
}
type StoreCall = (...given: readonly never[]) => Promise<unknown>

/** The provider with a pause before and after every call. It knows nothing of what users did without it. */
function pausedProvider(provider: IdentityProvider, pause: Surroundings['pause']): IdentityProvider {
  const around = async <T>(point: string, call: () => Promise<T>): Promise<T> => {
    await pause(`before ${point}`)
    const answer = await call()
    await pause(`after ${point}`)
    return answer
  }
  return {
    findsByName: provider.findsByName,
    redeem: (request) => around(`redeem ${request.externalUserId}`, () => provider.redeem(request)),
    find: (name) => around(`find ${name}`, () => provider.find(name)),
    review: (id) =>
      id.startsWith('own-')
        ? Promise.resolve({ kind: 'unavailable', reason: 'a direct verification' })
        : around(`review of ${id}`, () => provider.review(id)),
  }
}
