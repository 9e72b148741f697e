import { expect, test } from 'vitest'
import { readRetention } from './retention-variables.js'
import { readVariables } from './variables.js'

const read = (env: Readonly<Record<string, string>>) => {
  const variables = readVariables(env)
  return { ...readRetention(variables), problems: variables.problems }
}

test('without a variable every kind is kept', () => {
  const policy = { attempts: null, deliveries: null, updates: null, audit: null }
  expect(read({})).toEqual({ policy, folder: null, problems: [] })
  expect(read({ PI_RETENTION_AUDIT: 'keep' })).toEqual({ policy, folder: null, problems: [] })
})

test('each kind has its days', () => {
  const env = { PI_RETENTION_ATTEMPTS: '1d', PI_RETENTION_DELIVERIES: '90d', PI_RETENTION_UPDATES: '9999d' }
  const policy = { attempts: 86_400_000, deliveries: 7_776_000_000, updates: 863_913_600_000, audit: null }
  expect(read({ ...env, PI_RETENTION_FOLDER: '/archive' })).toEqual({ policy, folder: '/archive', problems: [] })
})

test.each(['0d', '01d', '90', '90 d', '1h', '-1d', '10000d', 'forever', '1.5d', 'KEEP'])('%j is rejected', (value) => {
  expect(read({ PI_RETENTION_DELIVERIES: value }).problems).toEqual([
    `PI_RETENTION_DELIVERIES is ${JSON.stringify(value)}; expected keep, or days from 1d to 9999d.`,
  ])
})
