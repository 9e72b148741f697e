import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { readConfig } from './read-config.js'

const masterKey = randomBytes(32).toString('base64url')
const consoleUrlOf = (env: Record<string, string>) => readConfig({ PI_MASTER_KEY: masterKey, ...env }).consoleUrl

test.each([
  [{}, 'http://127.0.0.1:4747'],
  [{ PI_PORT: '8080' }, 'http://127.0.0.1:8080'],
  [{ PI_CONSOLE_URL: 'https://pay.example' }, 'https://pay.example'],
  [{ PI_CONSOLE_URL: 'https://pay.example:8443/' }, 'https://pay.example:8443'],
  [{ PI_CONSOLE_URL: 'http://localhost:8080' }, 'http://localhost:8080'],
  [{ PI_CONSOLE_URL: 'http://[::1]:8080' }, 'http://[::1]:8080'],
])('%j is the console at %s', (env, url) => {
  expect(consoleUrlOf(env)).toBe(url)
})

test.each([
  'pay.example',
  'http://pay.example',
  'ftp://pay.example',
  'https://pay.example/console',
  'https://pay.example/?a',
  'https://pay.example/#a',
  'https://user:canary-of-a-password@pay.example',
  'javascript:alert(1)',
])('%s is rejected without being repeated', (url) => {
  const thrown = (() => {
    try {
      return consoleUrlOf({ PI_CONSOLE_URL: url })
    } catch (error) {
      return error
    }
  })()
  expect(thrown).toMatchObject({ problems: [expect.stringMatching(/^PI_CONSOLE_URL is not usable; expected https:/)] })
  expect(JSON.stringify(thrown)).not.toContain('canary')
})
