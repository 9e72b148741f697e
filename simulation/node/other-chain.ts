/** Another chain, which an endpoint is at times swapped for: it has payments too, and none of them counts. @module */

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

/** Answers as a node of it does. */
export const otherChain: Answer = (call) => answerFrom(chainId, chain.tip, call)
