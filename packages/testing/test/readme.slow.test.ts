import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const documents = [
  'packages/testing/README.md',
  'docs/guides/test-an-integration.md',
  'docs/guides/test-shared-verifications.md',
  'docs/doctor.md',
  'docs/explain.md',
].map((path) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'))
const block = (word: string) =>
  [...documents.join('').matchAll(/```js\n(.*?)```/gs)]
    .map(([, code = '']) => code)
    .find((code) => code.includes(word)) ?? ''
const cwd = fileURLToPath(new URL('..', import.meta.url))

test('the receiver test of the README passes under node:test', async () => {
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, block('node:test')], {
    cwd,
    timeout: 300_000,
  })
  expect(stdout).toMatch(/^# pass 1$/m)
  expect(stdout).toMatch(/^# fail 0$/m)
})

test('the lines of the guide mint a token, print where to redeem it, and exit', async () => {
  const code = block('mintShareToken')
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval', code]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, flags, { cwd, timeout: 300_000 })
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^share [\w-]+\.[\w-]+\. with a service that asks http:\/\/127\.0\.0\.1:\d+\n$/)
})

test('the lines of the guide bring a payment through the chaos of a twin', async () => {
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, block('twin.chaos')], { cwd })
  expect(stdout).toBe('success 2 success true\n')
})

test('the lines of the guide share a verification with a twin', async () => {
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, block('shareToken()')], { cwd })
  expect(stdout).toBe('in_flight approved\n')
})

test('the lines of its page run the doctor on a receiver, which passes', async () => {
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval']
  // No verdict depends on the speed of this machine.
  const code = block('runDoctor').replace('effects: async', 'timeoutMs: 120_000,\n  effects: async')
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, code], { cwd, timeout: 300_000 })
  expect(stdout).toMatch(/^\d+ probes passed$/m)
})

test('the lines of its page explain a delivery', async () => {
  const code = block('explainDelivery')
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval', code]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, flags, { cwd, timeout: 300_000 })
  expect(stderr).toBe('')
  expect(stdout.trim()).toBe(/console[.]log[(].*\/\/ (.*)$/m.exec(code)?.[1])
})
