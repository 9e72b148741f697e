/** Whose every shared verification is, replayed from the log of accounts alone: says so independently of what the code notes. @module */
import type { memoryStore } from './memory-store.js'

/** What is known of the address of an attempt since it was made. */
interface Track {
  readonly emailKey: string
  /** The account that it was made at. */
  readonly initial: string
  /** Who proved the address last, each while the one before still had it; null: nobody did. */
  holder: string | null
  /** The holder gave the address up for another one: whoever proves it then has nothing to do with the attempt, unless it is the holder, or has what came of it. */
  isFrozen: boolean
  /** Events of the log that were read. */
  read: number
  readonly holders: Set<string>
}

/** What the oracle looks at. */
interface Watched {
  readonly memory: ReturnType<typeof memoryStore>
  readonly broke: (what: string, detail: string) => void
  readonly nameOf: (emailKey: string) => string
}

/** Builds one; `check` is called after every transaction, with the accounts at which applicants were before it. */
export function createOwnerOracle({ memory, broke, nameOf }: Watched) {
  const tracks = new Map<string, Track>()
  const told = new Set<string>()

  function replay(track: Track, at: string): void {
    const { accountEvents } = memory.committed()
    for (const { action, accountId, emailKey } of accountEvents.slice(track.read)) {
      if (action !== 'claimed' || accountId === null) continue
      if (emailKey !== track.emailKey) track.isFrozen ||= accountId === track.holder
      else if (!track.isFrozen || accountId === track.holder || accountId === at) {
        Object.assign(track, { holder: accountId, isFrozen: false })
        track.holders.add(accountId)
      }
    }
    track.read = accountEvents.length
  }

  /** Who takes what is at nobody's account. */
  const heirOf = ({ holder, emailKey }: Track) => holder ?? memory.committed().resolved.get(emailKey) ?? ''

  function judge(name: string, track: Track, applicantId: string): void {
    const { verifications, users } = memory.committed()
    const row = [...verifications.values()].find((each) => each.applicantId === applicantId)
    if (row === undefined || row.donor === 'self' || row.claim !== null || told.has(name)) return
    const { accountId: at } = row
    const what = `${applicantId} for ${nameOf(track.emailKey)} at ${at}`
    if (users.has(at)) {
      const isCarried = track.holder === null && users.get(at)?.emailKey === track.emailKey
      if (track.holders.has(at) || at === track.initial || isCarried) return
      broke('to a stranger', what)
    } else {
      const heir = heirOf(track)
      const theirs = verifications.get(heir)
      if (heir !== at && (theirs === undefined || (theirs.donor === null && theirs.claim === null)))
        broke('orphan', `${what}, owner ${heir}`)
    }
    told.add(name)
  }

  /** What is noted of attempts says where everything is, but for what waits for the end of a claim. */
  function checkNotes(): void {
    const { verifications, redemptions } = memory.committed()
    const all = [...redemptions.values()]
    for (const { accountId, applicantId, donor, claim } of verifications.values()) {
      const attempts = all.filter((each) => each.applicantId === applicantId && each.state === 'attached')
      const [attempt] = attempts
      if (donor === 'self' || attempt === undefined || attempts.length > 1) continue
      const noted = attempt.takenBy ?? attempt.accountId
      const running = claim === null ? undefined : redemptions.get(claim.externalUserId)
      const waits = claim !== null && (running === undefined || (running.takenBy ?? running.accountId) === noted)
      if (noted !== accountId && !waits)
        broke('misplaced', `${applicantId} for ${nameOf(attempt.emailKey)} at ${accountId}, noted ${noted}`)
    }
  }

  return {
    check(placeBefore: (applicantId: string) => string | undefined): void {
      const { redemptions, users, accountEvents } = memory.committed()
      checkNotes()
      for (const [name, { accountId, emailKey, applicantId, state }] of redemptions) {
        const track = tracks.get(name)
        if (track === undefined) {
          const user = users.get(accountId)
          const holder = user?.verified === true && user.emailKey === emailKey ? accountId : null
          const holders = new Set(holder === null ? [] : [holder])
          tracks.set(name, {
            emailKey,
            initial: accountId,
            holder,
            isFrozen: false,
            read: accountEvents.length,
            holders,
          })
          continue
        }
        replay(track, (applicantId === null ? undefined : placeBefore(applicantId)) ?? accountId)
        if (applicantId !== null && state === 'attached') judge(name, track, applicantId)
      }
    },
  }
}
