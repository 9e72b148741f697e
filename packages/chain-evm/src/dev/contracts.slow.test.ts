import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { toEventSelector } from 'viem'
import { expect, test } from 'vitest'
import { yodlTopic } from '../decode/router-events.js'
import { devRouter } from './contracts.generated.js'

test('the generated contracts are what the Solidity files compile to', async () => {
  const compile = fileURLToPath(new URL('../../scripts/compile-contracts.mjs', import.meta.url))
  const { stderr } = await promisify(execFile)(process.execPath, [compile, '--check'])
  expect(stderr).toBe('')
})

test('the development router emits the event that is decoded', () => {
  const topics = devRouter.abi.filter((item) => item.type === 'event').map((event) => toEventSelector(event))
  expect(topics).toContain(yodlTopic)
})
