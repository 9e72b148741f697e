import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { useFront } from '../../test/front.js'
import { useTestChain } from '../../test/test-chain.js'
import { deployDevRouter } from './dev-chain.js'

const key = 'k3y-of-the-node'
const rejection = { name: 'DevChainError', code: 'ERR_DEV_CHAIN', message: expect.stringContaining('Chain 31337') }

const front = await useFront((await useTestChain()).rpcUrl)
const chain = { chainId: 31337, rpcUrl: `${front.url}/${key}` }
const failure = (work: Promise<unknown>) => work.then(() => null).catch((error: unknown) => error as Error)

describe('a deployment that fails is a typed error without the URL', () => {
  test('of an account without funds', async () => {
    const account = privateKeyToAccount(`0x${'01'.repeat(32)}`)
    const error = await failure(deployDevRouter(chain, { account }))
    const message = expect.stringMatching(/^Chain 31337 .*JSON-RPC error -?\d+: /)
    expect(error).toMatchObject({ ...rejection, message })
    expect(`${error?.message}${error?.stack}`).not.toContain(key)
    expect(error?.message).not.toContain('127.0.0.1')
    expect(error?.cause).toBeUndefined()
  })

  test('when a contract is reverted', async () => {
    front.lie('eth_getTransactionReceipt', () => ({ status: '0x0', logs: [] }))
    const message = expect.stringContaining('reverted')
    await expect(deployDevRouter(chain)).rejects.toMatchObject({ ...rejection, message })
  })

  test('when nothing is mined', async () => {
    const deploying = deployDevRouter(chain, { timeoutMs: 50 })
    await expect(deploying).rejects.toMatchObject({ ...rejection, message: expect.stringContaining('mine blocks?') })
  })
})

describe('a signal', () => {
  const reason = new Error('enough')

  test('that aborted before sends nothing', async () => {
    const work = () => expect(deployDevRouter(chain, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(await front.during(work)).toEqual([])
  })

  test.each(['eth_getTransactionCount', 'eth_sendRawTransaction', 'eth_getTransactionReceipt'])(
    'that aborts at %s ends the wait with its reason',
    async (method) => {
      const controller = new AbortController()
      front.intercept = ({ methods, forward }) => {
        if (!methods.includes(method)) return forward()
        return controller.abort(reason)
      }
      await expect(deployDevRouter(chain, { signal: controller.signal })).rejects.toBe(reason)
    },
  )
})

test.each([0, -1, 1.5, Number.NaN])('a time-out of %d is a RangeError', async (timeoutMs) => {
  await expect(deployDevRouter(chain, { timeoutMs })).rejects.toThrow(RangeError)
})
