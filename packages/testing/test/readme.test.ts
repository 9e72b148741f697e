import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('the lines of the README mint a token, say where to redeem it, and end', async () => {
  const [, code = ''] = /```js\n(.*?)```/s.exec(readFileSync(new URL('../README.md', import.meta.url), 'utf8')) ?? []
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval', code]
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const { stdout, stderr } = await promisify(execFile)(process.execPath, flags, { cwd, timeout: 25_000 })
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^share [\w-]+\.[\w-]+\. with a service that asks http:\/\/127\.0\.0\.1:\d+\n$/)
}, 30_000)
