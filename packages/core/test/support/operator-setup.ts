import { createAudited } from '../../src/history/audit-log.js'
import { createOperatorCommands } from '../../src/operators/operator-commands.js'
import { createOperatorSessions } from '../../src/operators/operator-sessions.js'
import type { ScryptCost } from '../../src/operators/passphrase.js'
import { type MasterKey, parseMasterKey } from '../../src/secrets/keys.js'
import { manualClock } from './manual-clock.js'
import { seededRandom } from './seeded-random.js'
import { openStore } from './store.js'

const masterKey = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')

/** A hash that takes no time. */
export const cheapCost: ScryptCost = { log2N: 4, r: 1, p: 1 }

export const passphrase = 'correct horse battery'

/** The code of the error that a sign-in ends with, or `signed in`. */
export const getOutcome = (signingIn: Promise<unknown>) =>
  signingIn.then(
    () => 'signed in',
    (error: { code: string }) => error.code,
  )

/** Commands and sessions on a store in memory, with a clock that stands still. */
export function operatorSetup() {
  const clock = manualClock()
  const store = openStore({ clock })
  const random = seededRandom('operators')
  const auditedAs = (actor: string) => createAudited({ transaction: store.transaction, keys: masterKey, clock, actor })
  const commands = createOperatorCommands({ operators: store.operators, audited: auditedAs('cli:root'), clock, random })
  /** Sessions of one more process. */
  const sessionsWith = (cost: ScryptCost = cheapCost, keys: MasterKey = masterKey) =>
    createOperatorSessions({ operators: store.operators, auditedAs, keys, clock, random, cost })
  const sessions = sessionsWith()
  const signIn = (name: string, given = passphrase, source = '192.0.2.1') =>
    sessions.signIn({ name, passphrase: given, source })
  return {
    ...{ clock, store, commands, sessions, sessionsWith, signIn },
    outcome: (...given: Parameters<typeof signIn>) => getOutcome(signIn(...given)),
    /** Creates an operator who has set the passphrase. */
    async join(name: string, role: 'viewer' | 'operator' | 'admin' = 'viewer') {
      const { linkToken } = await commands.create({ name, role })
      await sessions.redeemLink({ linkToken, passphrase })
    },
    audit: () => store.committed.audit.map(({ actor, action, subject }) => `${actor} ${action} ${subject}`),
  }
}
