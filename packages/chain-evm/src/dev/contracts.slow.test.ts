import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('the generated contracts are what the Solidity files compile to', async () => {
  const compile = fileURLToPath(new URL('../../scripts/compile-contracts.mjs', import.meta.url))
  const { stderr } = await promisify(execFile)(process.execPath, [compile, '--check'])
  expect(stderr).toBe('')
})
