/** The acts of the console, by their names in the address. @module */

import { stopJobAct } from '../jobs/stop-job.js'
import { doctorAct } from '../tools/doctor-act.js'
import { explainAct } from '../tools/explain-act.js'
import { triggerAct } from '../tools/trigger-act.js'
import { accountActs } from './account-acts.js'
import type { Act } from './act.js'
import { identityActs } from './identity-acts.js'
import { integrationActs } from './integration-acts.js'
import { keyActs } from './key-acts.js'
import { operatorActs } from './operator-acts.js'
import { reindexAct } from './reindex.js'
import { replayAct } from './replay.js'
import { replayManyAct } from './replay-many.js'
import { verifyAuditAct } from './verify-audit.js'

/** All acts. */
export const acts: Readonly<Record<string, Act>> = {
  replay: replayAct,
  ...integrationActs,
  ...accountActs,
  ...keyActs,
  ...operatorActs,
  ...identityActs,
  'replay-many': replayManyAct,
  reindex: reindexAct,
  'verify-audit': verifyAuditAct,
  'stop-job': stopJobAct,
  trigger: triggerAct,
  doctor: doctorAct,
  explain: explainAct,
}
