import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { computeTraceIds } from './payment-trace.js'

const txHash = `0x${'12'.repeat(32)}`
const integrationAddress = `0x${'cd'.repeat(20)}`

it('a trace id is the first half of SHA-256 over chain, hash and integration, and the parent id what follows', () => {
  const digest = createHash('sha256').update(`137:${txHash}:${integrationAddress}`).digest()
  expect(computeTraceIds({ chainId: 137, txHash, integrationAddress })).toEqual({
    traceId: digest.subarray(0, 16).toString('hex'),
    parentId: digest.subarray(16, 24).toString('hex'),
  })
})

it('two integrations that one transaction pays have two traces', () => {
  const other = computeTraceIds({ chainId: 137, txHash, integrationAddress: `0x${'ab'.repeat(20)}` })
  expect(other.traceId).not.toBe(computeTraceIds({ chainId: 137, txHash, integrationAddress }).traceId)
})
