/** Reads about chains. @module */
import type { ChainReads } from '@payment-integration/core/ports'
import type { Connection } from '../engine.js'
import { listCoverage } from './coverage.js'
import { waitingDeposits } from './deposits.js'
import { listProofs } from './proofs.js'

/** The reads, on a connection that sees committed rows only. */
export function createChainReads(db: Connection): ChainReads {
  return {
    proofs: (chainId, limit) => listProofs(db, chainId, limit),
    coverage: (chainId) => listCoverage(db, chainId),
    waitingDeposits: (query) => waitingDeposits(db, query),
  }
}
