import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { problemsIn } from '../../test/support/config-problems.js'
import { describeConfig } from './describe-config.js'
import { readConfig } from './read-config.js'

const minimal = { PI_MASTER_KEY: randomBytes(32).toString('hex') }
const read = (env: Record<string, string>) => readConfig({ ...minimal, ...env })

const problemsOf = (env: Record<string, string>) => problemsIn(() => read(env))

it('the portal is off by default, in development too', () => {
  expect([read({}).portal, read({ PI_ENV: 'development' }).portal, describeConfig(read({})).portal]).toEqual([
    null,
    null,
    'off',
  ])
})

it.each(['https://pay.example', 'https://pay.example:8443', 'http://127.0.0.1:4747', 'http://localhost:4747'])(
  'the portal has one origin, such as %s',
  (url) => {
    const config = read({ PI_PORTAL: 'on', PI_PORTAL_URL: url })
    expect([config.portal, describeConfig(config).portal]).toEqual([{ publicUrl: url }, url])
  },
)

it.each([
  'http://pay.example',
  'https://pay.example/portal',
  'https://pay.example?x=1',
  'https://a@pay.example',
  'https://:s3cret@pay.example',
  'pay',
])('PI_PORTAL_URL %s is rejected, and is not repeated', (url) => {
  expect(problemsOf({ PI_PORTAL: 'on', PI_PORTAL_URL: url })).toEqual([
    'PI_PORTAL_URL is not usable; expected https://<host> without path, query or credentials (http:// only to this machine).',
  ])
})

it('without a URL only development on a loopback address has it', () => {
  expect(read({ PI_PORTAL: 'on', PI_ENV: 'development', PI_HOST: '127.0.0.1' }).portal).toEqual({ publicUrl: null })
  const problem =
    'PI_PORTAL is on without PI_PORTAL_URL; set the origin that integrators open, such as https://pay.example.'
  expect(problemsOf({ PI_PORTAL: 'on' })).toEqual([problem])
  expect(problemsOf({ PI_PORTAL: 'on', PI_ENV: 'development', PI_HOST: '0.0.0.0' })).toEqual([problem])
})

it('a URL without the portal is a mistake', () => {
  expect(problemsOf({ PI_PORTAL_URL: 'https://pay.example' })).toEqual([
    'PI_PORTAL_URL is set; it is only used with PI_PORTAL=on.',
  ])
})
