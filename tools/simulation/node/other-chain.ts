/** Another chain that sometimes replaces an endpoint's own; its payments never count. @module */

import { createFakeChain } from '../chain/fake-chain.js'
import { drawTransaction } from '../chain/transaction.js'
import { drawsOf } from '../random.js'
import type { Answer } from './calls.js'
import { answerFrom } from './fake-node.js'

const chainId = 5
const blocks = 12
const genesis = 1_700_000_000

const draws = drawsOf('another chain')
const chain = createFakeChain(chainId, draws, genesis)
for (let block = 0; block < blocks; block += 1) chain.mine([drawTransaction(draws, block)], genesis + block)

/** Answers like a node of that chain. */
export const otherChain: Answer = (call) => answerFrom(chainId, chain.tip, call)
