/** Reads the variables of history that ends. Source: docs/retention.md. @module */
import type { RetentionPolicy } from '@payment-integration/core'
import type { RetentionConfig } from './config.js'
import { show, type Variables } from './variables.js'

/** Names of these variables. */
export const retentionVariables = [
  'PI_RETENTION_ATTEMPTS',
  'PI_RETENTION_DELIVERIES',
  'PI_RETENTION_UPDATES',
  'PI_RETENTION_AUDIT',
  'PI_RETENTION_FOLDER',
] as const

const dayMs = 86_400_000

/** Reads how long each kind of history stays, and where files of it go. */
export function readRetention(variables: Variables): RetentionConfig {
  const policy: RetentionPolicy = {
    attempts: readDays(variables, 'PI_RETENTION_ATTEMPTS'),
    deliveries: readDays(variables, 'PI_RETENTION_DELIVERIES'),
    updates: readDays(variables, 'PI_RETENTION_UPDATES'),
    audit: readDays(variables, 'PI_RETENTION_AUDIT'),
  }
  return { policy, folder: variables.text('PI_RETENTION_FOLDER') ?? null }
}

/** `keep`, or days such as `90d`; null: for ever. */
function readDays({ text, problems }: Variables, name: (typeof retentionVariables)[number]): number | null {
  const value = text(name) ?? 'keep'
  if (value === 'keep') return null
  const days = /^([1-9][0-9]{0,3})d$/.exec(value)?.[1]
  if (days === undefined) problems.push(`${name} is ${show(value)}; expected keep, or days from 1d to 9999d.`)
  return Number(days ?? 0) * dayMs
}
