import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { problemsIn } from '../../test/support/config-problems.js'
import { describeConfig } from './describe-config.js'
import { readConfig } from './read-config.js'

const masterKey = randomBytes(32).toString('base64url')
const read = (env: Record<string, string>) => readConfig({ PI_MASTER_KEY: masterKey, ...env })

const problemsOf = (env: Record<string, string>) => problemsIn(() => read(env))

const development = { PI_ENV: 'development', PI_CONSOLE: 'on' }

describe('without PI_CONSOLE_URL', () => {
  test('the console is off unless it is on, in development and on a loopback address', () => {
    const consoleOf = (env: Record<string, string>) => [read(env).console, read(env).consoleUrl]
    expect([consoleOf({}), consoleOf({ PI_ENV: 'development' })]).toEqual([
      [false, null],
      [false, null],
    ])
    for (const PI_HOST of ['127.0.0.1', '::1', 'localhost'])
      expect(consoleOf({ ...development, PI_HOST })).toEqual([true, null])
    expect(describeConfig(read(development))).toMatchObject({ console: 'on', consoleUrl: 'none', oidc: 'off' })
  })

  test('production and an address of the network are rejected, with what to set', () => {
    expect(problemsOf({ PI_CONSOLE: 'on' })).toEqual([
      'PI_CONSOLE is on without PI_CONSOLE_URL, so nobody signs in; set PI_CONSOLE_URL, or PI_ENV=development for pages without sign-in.',
    ])
    expect(problemsOf({ ...development, PI_HOST: '0.0.0.0' })).toEqual([
      'PI_CONSOLE is on without PI_CONSOLE_URL, so nobody signs in; set PI_CONSOLE_URL, or a loopback address as PI_HOST instead of "0.0.0.0".',
    ])
  })
})

describe('with PI_CONSOLE_URL', () => {
  test.each([
    ['https://pay.example', 'https://pay.example'],
    ['https://PAY.example:8443/', 'https://pay.example:8443'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('%s the console is at %s, in every environment and on every address', (given, consoleUrl) => {
    for (const PI_ENV of ['production', 'development'])
      for (const PI_HOST of ['0.0.0.0', '127.0.0.1'])
        expect(read({ PI_ENV, PI_HOST, PI_CONSOLE: 'on', PI_CONSOLE_URL: given })).toMatchObject({
          console: true,
          consoleUrl,
        })
  })

  test('alone the console stays off: the commands make links for another process', () => {
    const config = read({ PI_CONSOLE_URL: 'https://pay.example' })
    expect(config).toMatchObject({ console: false, consoleUrl: 'https://pay.example' })
    expect(describeConfig(config)).toMatchObject({ console: 'off', consoleUrl: 'https://pay.example' })
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
  ])('%s is rejected without being repeated', (given) => {
    expect(problemsOf({ PI_CONSOLE: 'on', PI_CONSOLE_URL: given })).toEqual([
      'PI_CONSOLE_URL is not usable; expected https://<host> without path, query or credentials (http:// only to this machine).',
    ])
  })
})
