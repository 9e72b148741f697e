/** The acts of the console, by their names in the address. @module */
import { accountActs } from './account-acts.js'
import type { Act } from './act.js'
import { identityActs } from './identity-acts.js'
import { integrationActs } from './integration-acts.js'
import { keyActs } from './key-acts.js'
import { operatorActs } from './operator-acts.js'
import { replayAct } from './replay.js'

/** All acts. */
export const acts: Readonly<Record<string, Act>> = {
  replay: replayAct,
  ...integrationActs,
  ...accountActs,
  ...keyActs,
  ...operatorActs,
  ...identityActs,
}
