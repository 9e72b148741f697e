import { expect, test } from 'vitest'
import { readBlocks, runCode } from '../../webhook/test/run-code.js'

const blocks = [
  'packages/testing/README.md',
  'docs/guides/test-an-integration.md',
  'docs/guides/test-shared-verifications.md',
  'docs/doctor.md',
  'docs/explain.md',
].flatMap((path) => readBlocks(path, 'js'))
const block = (word: string) => blocks.find((code) => code.includes(word)) ?? ''
const run = (code: string) => runCode({ code, cwd: new URL('..', import.meta.url) })

test('the receiver test of the README passes under node:test', async () => {
  const { stdout } = await run(block('node:test'))
  expect(stdout).toMatch(/^# pass 1$/m)
  expect(stdout).toMatch(/^# fail 0$/m)
})

const minted = /^share [\w-]+\.[\w-]+\. with a service that asks http:\/\/127\.0\.0\.1:\d+\n$/
test.each([
  ['mint a token, print where to redeem it, and exit', 'mintShareToken', minted],
  ['bring a payment through the chaos of a twin', 'twin.chaos', /^success 2 success true\n$/],
  ['share a verification with a twin', 'shareToken()', /^in_flight approved\n$/],
])('the lines of the guide %s', async (_, word, printed) => {
  const { stdout, stderr } = await run(block(word))
  expect(stdout).toMatch(printed)
  expect(stderr).toBe('')
})

test('the lines of its page run the doctor on a receiver, which passes', async () => {
  // No verdict depends on the speed of this machine.
  const code = block('runDoctor').replace('effects: async', 'timeoutMs: 120_000,\n  effects: async')
  expect((await run(code)).stdout).toMatch(/^\d+ probes passed$/m)
})

test('the lines of its page explain a delivery', async () => {
  const code = block('explainDelivery')
  const { stdout, stderr } = await run(code)
  expect(stderr).toBe('')
  expect(stdout.trim()).toBe(/console[.]log[(].*\/\/ (.*)$/m.exec(code)?.[1])
})
