/** Sessions of operators, and the limits of their sign-in. Source: docs/decisions/operators.md. @module */
import type { Audited } from '../history/audit-log.js'
import { groupBy, isExpired } from '../internal/values.js'
import { type Clock, createMonotonicClock, type RandomSource } from '../ports/runtime.js'
import type { MasterKey } from '../secrets/keys.js'
import { openSealed, type SealedPlace, sealText } from '../secrets/seal.js'
import {
  createCsrfTokens,
  getPassphraseHash,
  hashToken,
  issueToken,
  isToken,
  linkMs,
  parseOperatorName,
  signsInBy,
} from './operator-commands.js'
import type { NewSession, OperatorRecord, OperatorStore, SignedInOperator } from './operator-store.js'
import { LinkRejectedError, OidcRejectedError, SignInLimitedError, SignInRejectedError } from './operator-store.js'
import type { ScryptCost } from './passphrase.js'
import { checkPassphrase, createDummyHash, hashPassphrase, owaspCost, verifyPassphrase } from './passphrase.js'

/**
 * Limits of hashing: two hashes take 256 MiB and two of Node's four threads for such work. `waiting`: the most callers
 * that wait for a slot. `busyMs`: the wait that a rejected caller is asked for, in milliseconds.
 */
export const hashSlotDefaults = { slots: 2, waiting: 16, busyMs: 5_000 } as const

/**
 * Builds the function that runs work in one of a few slots, in the order of arrival. When the queue is full, the
 * network with the most waiting callers loses its newest one to a network with fewer.
 */
export function createHashSlots(limits: Record<keyof typeof hashSlotDefaults, number> = hashSlotDefaults) {
  const { slots, waiting, busyMs } = limits
  let free = slots
  const queue: { network: string; start: () => void; reject: (error: SignInLimitedError) => void }[] = []

  /** Frees a position of the queue for a caller of the network. @throws SignInLimitedError */
  function displaceWaiter(network: string): void {
    const waiters = groupBy(queue, (each) => each.network)
    const largest = [...waiters.values()].reduce((a, b) => (b.length > a.length ? b : a), [])
    const newest = largest.at(-1)
    if (newest === undefined || (waiters.get(network)?.length ?? 0) + 1 >= largest.length)
      throw new SignInLimitedError(busyMs)
    queue.splice(queue.indexOf(newest), 1)
    newest.reject(new SignInLimitedError(busyMs))
  }

  return async <T>(network: string, work: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1
    else {
      if (queue.length >= waiting) displaceWaiter(network)
      // The work that ends hands its slot over, so `free` stays the same.
      await new Promise<void>((start, reject) => queue.push({ network, start, reject }))
    }
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next === undefined) free += 1
      else next.start()
    }
  }
}

/** The network of a source: /24 of IPv4, /48 of IPv6, taken to have one owner. Other text is its own network. */
export function toNetwork(source: string): string {
  const [, v4] = /^(?:::ffff:)?(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/i.exec(source) ?? []
  if (v4 !== undefined) return `${v4}.0/24`
  if (!source.includes(':')) return source
  // The groups that `::` stands for are zeros.
  const groups = (source.split('::', 1)[0] ?? '').split(':')
  const prefix = [0, 1, 2].map((n) => (Number.parseInt(groups[n] ?? '', 16) || 0).toString(16))
  return `${prefix.join(':')}::/48`
}

/** Failures within a window until further sign-ins are rejected. */
export const signInLimitDefaults = { windowMs: 15 * 60_000, perName: 5, perSource: 20, reports: 20 } as const

/** The most windows in memory; the oldest ends early. A failed sign-in of an operator costs a hash, so this is rare. */
const maxWindows = 100_000

/** Builds sign-in limits that are counted in memory; docs/decisions/operators.md has the reason. */
export function createSignInLimits(clock: Pick<Clock, 'now'>) {
  const { windowMs, perName, perSource, reports } = signInLimitDefaults
  const monotonicClock = createMonotonicClock(clock)
  /** By key, in the order of their ends. */
  const windows = new Map<string, { failures: number; readonly endsAt: number }>()
  // These keys are separate from the windows, which may end early.
  let reported = { keys: new Set<string>(), endsAt: 0 }

  function findOpenWindow(key: string) {
    const window = windows.get(key)
    return window !== undefined && window.endsAt > monotonicClock.now() ? window : undefined
  }
  function computeWaitMs(key: string, limit: number): number {
    const window = findOpenWindow(key)
    return window !== undefined && window.failures >= limit ? window.endsAt - monotonicClock.now() : 0
  }
  function addFailure(key: string) {
    for (const [old, { endsAt }] of windows) {
      if (endsAt > monotonicClock.now() && windows.size < maxWindows) break
      windows.delete(old)
    }
    const window = findOpenWindow(key) ?? { failures: 0, endsAt: monotonicClock.now() + windowMs }
    window.failures += 1
    windows.set(key, window)
    return window
  }
  return {
    /** Milliseconds until a sign-in is accepted; 0: now. */
    waitMs: (name: string, source: string): number =>
      Math.max(computeWaitMs(`name:${name}`, perName), computeWaitMs(`source:${source}`, perSource)),
    /** Counts a sign-in as failed until it succeeds, so that concurrent sign-ins cannot pass a limit. */
    count(name: string, source: string) {
      const nameWindow = addFailure(`name:${name}`)
      const sourceWindow = addFailure(`source:${source}`)
      return {
        /** Removes the failures of the name, and this sign-in from those of the source. */
        markSucceeded(): void {
          windows.delete(`name:${name}`)
          sourceWindow.failures -= 1
        },
        /** Removes this sign-in: an error of the service ended it. */
        cancel(): void {
          nameWindow.failures -= 1
          sourceWindow.failures -= 1
        },
      }
    },
    clear: (name: string) => void windows.delete(`name:${name}`),
    /**
     * Writes the first report of a key within a window, and at most 20 reports of all keys, since strangers choose the
     * keys. A report whose writing fails does not count.
     */
    async reportOnce(key: string, write: () => Promise<void>): Promise<void> {
      if (reported.endsAt <= monotonicClock.now())
        reported = { keys: new Set(), endsAt: monotonicClock.now() + windowMs }
      const { keys } = reported
      if (keys.size >= reports || keys.has(key)) return
      keys.add(key)
      try {
        await write()
      } catch (error) {
        keys.delete(key)
        throw error
      }
    },
  }
}

const sealedPlace: SealedPlace = { purpose: 'sign-in', boundTo: 'cookie' }

/** How long a session of an operator or an integration lasts, in milliseconds. */
export const sessionMs = 12 * 60 * 60_000

/** The most open sessions of one operator, and of one integration: a further sign-in ends the oldest. */
export const maxSessions = 20

/** The actor of an operator's acts in the audit log: `operator:ada` for `ada`. */
export const operatorActor = (name: string): string => `operator:${name}`

function toSignedIn({ name, role }: OperatorRecord): SignedInOperator {
  return { name, role }
}

/** Stands for an unknown name in the audit log: the text may be a passphrase, typed into the wrong field. */
const unknownName = 'unknown name'

/** The longest source that is counted and recorded, in characters. */
export const maxSourceLength = 64

interface SignInInput {
  readonly name: string
  /** The caller's network address; of IPv6 the first 64 bits. Failures are limited per source. */
  readonly source: string
}

interface SessionDeps {
  readonly operators: OperatorStore
  readonly auditedAs: (actor: string) => Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<RandomSource, 'bytes'>
  /** Tests use a cheap one. @default owaspCost */
  readonly cost?: ScryptCost | undefined
}

/** Signs operators in and out. Source: docs/decisions/operators.md. */
export type OperatorSessions = ReturnType<typeof createOperatorSessions>

export function createOperatorSessions(deps: SessionDeps) {
  const { operators, auditedAs, keys, clock, random, cost = owaspCost } = deps
  const limits = createSignInLimits(clock)
  const runInSlot = createHashSlots()
  const dummy = createDummyHash(cost, random)
  const findSession = async (sessionToken: string) =>
    isToken('session', sessionToken) ? operators.findSession(hashToken(sessionToken)) : null

  function checkLimits(name: string, source: string): void {
    const waitMs = limits.waitMs(name, source)
    if (waitMs > 0) throw new SignInLimitedError(waitMs)
  }

  /** Checks a passphrase; `newHash`: a hash with the current cost, if the stored one is outdated. */
  async function checkSignIn(name: string, passphrase: string) {
    const record = await operators.find(name)
    const hash = record?.enabled === true ? getPassphraseHash(record) : null
    const { matches, isOutdated } = await verifyPassphrase(passphrase, hash ?? dummy, cost)
    const accepted = hash !== null && matches ? record : null
    const newHash = accepted !== null && isOutdated ? await hashPassphrase(passphrase, cost, random) : null
    return { record, accepted, newHash }
  }

  /** Records the first failure of a name, whether an operator has it or not, so that both take the same time. */
  const recordFailure = (name: string, record: OperatorRecord | null, details: Record<string, string>) =>
    limits.reportOnce(name, () =>
      auditedAs('unauthenticated')(async (_tx, note) =>
        note({ action: 'operator.sign_in_failed', subject: record?.name ?? unknownName, details }),
      ),
    )

  /** Opens a session. Null: the operator was disabled or reset since the read. `newHash` replaces an outdated hash. */
  async function openSession(
    { name, passphrase }: OperatorRecord,
    newHash: string | null,
    details: Record<string, string>,
  ): Promise<NewSession | null> {
    const { token, hash } = issueToken('session', random)
    const createdAt = clock.now()
    const session = { hash, operator: name, createdAt, expiresAt: createdAt + sessionMs }
    return auditedAs(operatorActor(name))(async (tx, note) => {
      const current = await tx.operators.find(name)
      if (current === null || !current.enabled || current.passphrase !== passphrase) return null
      if (newHash !== null) await tx.operators.update(name, { passphrase: newHash })
      await tx.operatorSessions.deleteExpired(createdAt)
      await tx.operatorSessions.keepNewest(name, maxSessions - 1)
      await tx.operatorSessions.insert(session)
      note({ action: 'operator.signed_in', subject: name, details })
      return { operator: toSignedIn(current), sessionToken: token, expiresAt: session.expiresAt }
    })
  }

  const hasValidLink = (record: OperatorRecord | null): record is OperatorRecord =>
    record?.enabled === true && record.link !== null && !isExpired(record.link.expiresAt, clock.now(), linkMs)

  return {
    /**
     * Sets a passphrase with the token of a one-time link, which is used up then. Earlier sessions end, and no session
     * is opened.
     * @throws LinkRejectedError `ERR_LINK_REJECTED`; PassphraseError `ERR_PASSPHRASE_LENGTH`; SignInLimitedError
     * `ERR_SIGN_IN_LIMITED` when too many sign-ins wait.
     */
    async redeemLink({ linkToken, passphrase }: { readonly linkToken: string; readonly passphrase: string }) {
      const hash = hashToken(linkToken)
      const holder = isToken('link', linkToken) ? await operators.findByLink(hash) : null
      if (!hasValidLink(holder)) throw new LinkRejectedError()
      checkPassphrase(passphrase)
      const hashed = await runInSlot(`link ${hash}`, () => hashPassphrase(passphrase, cost, random))
      const operator = await auditedAs(operatorActor(holder.name))(async (tx, note) => {
        const record = await tx.operators.findByLink(hash)
        if (!hasValidLink(record)) throw new LinkRejectedError()
        await tx.operators.update(record.name, { passphrase: hashed, link: null })
        await tx.operatorSessions.deleteByOwner(record.name)
        note({ action: 'operator.link_redeemed', subject: record.name })
        return toSignedIn(record)
      })
      limits.clear(operator.name)
      return operator
    },
    /**
     * Opens a session of 12 hours. An unknown name, a wrong passphrase and a disabled operator have the same answer
     * after the same work.
     * @throws SignInRejectedError `ERR_SIGN_IN_REJECTED`; SignInLimitedError `ERR_SIGN_IN_LIMITED` with the wait.
     */
    async signIn({ name: typedName, passphrase, source: address }: SignInInput & { readonly passphrase: string }) {
      const source = address.slice(0, maxSourceLength)
      // All invalid names are limited as one name.
      const name = parseOperatorName(typedName) ?? ''
      checkLimits(name, source)
      const { counted, record, accepted, newHash } = await runInSlot(toNetwork(source), async () => {
        checkLimits(name, source)
        const started = limits.count(name, source)
        try {
          return { counted: started, ...(await checkSignIn(name, passphrase)) }
        } catch (error) {
          started.cancel()
          throw error
        }
      })
      // Outside the slot: a wait for the audit log's lock must not keep other hashes waiting.
      try {
        const details = { source }
        const opened = accepted && (await openSession(accepted, newHash, details))
        if (opened !== null) {
          counted.markSucceeded()
          return opened
        }
        await recordFailure(name, record, details)
      } catch (error) {
        counted.cancel()
        throw error
      }
      throw new SignInRejectedError()
    },
    /**
     * Opens a session of 12 hours for a name that an OpenID provider has proved. The caller has verified the ID token.
     * `issuer`: the provider, for the audit log.
     * @throws OidcRejectedError `ERR_OIDC_REJECTED` when no enabled operator of that name signs in at the provider.
     */
    async signInProved({ name: typedName, source: address, issuer }: SignInInput & { readonly issuer: string }) {
      const details = { source: address.slice(0, maxSourceLength), issuer }
      const name = parseOperatorName(typedName)
      const record = name === null ? null : await operators.find(name)
      const isAllowed = record?.enabled === true && signsInBy(record) === 'oidc'
      const opened = isAllowed ? await openSession(record, null, details) : null
      if (opened !== null) return opened
      await recordFailure(name ?? '', record, details)
      throw new OidcRejectedError(typedName)
    },
    /** The operator of a session; null: it is unknown, signed out or expired, or its operator is disabled. */
    async authenticate(sessionToken: string): Promise<SignedInOperator | null> {
      const stored = await findSession(sessionToken)
      if (stored === null || isExpired(stored.session.expiresAt, clock.now(), sessionMs)) return null
      return stored.operator.enabled ? toSignedIn(stored.operator) : null
    },
    /** Ends a session. An unknown one is no error. */
    async signOut(sessionToken: string): Promise<void> {
      const stored = await findSession(sessionToken)
      if (stored === null) return
      const { hash, operator: name } = stored.session
      await auditedAs(operatorActor(name))(async (tx, note) => {
        if ((await tx.operatorSessions.delete(hash)) !== null) note({ action: 'operator.signed_out', subject: name })
      })
    },
    /** Seals the data of a sign-in that continues at the OpenID provider, for a cookie. */
    sealSignIn(text: string): string {
      const { keyVersion, sealed } = sealText(keys, random, sealedPlace, text)
      return `${keyVersion}.${sealed}`
    },
    /** Opens sealed data; null: it was altered, or its master key is not configured. */
    openSignIn(cookieValue: string): string | null {
      const [, version, sealed] = /^(\d{1,10})\.([A-Za-z0-9_-]{1,4096})$/.exec(cookieValue) ?? []
      if (version === undefined || sealed === undefined) return null
      const opened = openSealed(keys, sealedPlace, { keyVersion: Number(version), sealed })
      return opened === null ? null : Buffer.from(opened).toString('utf8')
    },
    ...createCsrfTokens(keys),
  }
}
