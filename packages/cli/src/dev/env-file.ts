/** Writes the values of a demo run to a file that frameworks load. A file of the user is never changed. @module */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ReadyEvent } from './demo-events.js'

/** First line of a file that the demo may replace. */
const mark = '# Written by payment-integration dev, and replaced by its next run. Delete this line to keep the file.'

/** The outcome for the file. */
export type EnvFileResult =
  | { readonly kind: 'written'; readonly path: string; readonly ignored: boolean }
  /** The file exists and is not the demo's. */
  | { readonly kind: 'kept'; readonly path: string; readonly ignored: boolean }

/** The five values of an integrator. */
export function envValues(ready: ReadyEvent): Readonly<Record<string, string>> {
  return {
    PAYMENTS_URL: ready.url,
    INTEGRATION_ADDRESS: ready.integrationAddress,
    API_SECRET: ready.apiSecret,
    WEBHOOK_SIGNING_SECRET: ready.signingSecret,
    LEGACY_API_KEY: ready.legacyApiKey,
  }
}

/** Writes the file, readable for its owner alone, unless it is the user's. Rejects with the error of the disk. */
export function writeEnvFile(path: string, values: Readonly<Record<string, string>>): EnvFileResult {
  if (existsSync(path) && !readFileSync(path, 'utf8').startsWith(mark))
    return { kind: 'kept', path, ignored: isIgnored(path) }
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}`)
  if (existsSync(path)) chmodSync(path, 0o600)
  writeFileSync(path, `${[mark, ...lines].join('\n')}\n`, { mode: 0o600 })
  return { kind: 'written', path, ignored: isIgnored(path) }
}

/** Whether a `.gitignore` beside the file names it, exactly or by a common pattern. */
function isIgnored(path: string): boolean {
  const list = join(dirname(path), '.gitignore')
  if (!existsSync(list)) return false
  const name = path.slice(dirname(path).length).replace(/^[/\\]/, '')
  const patterns = readFileSync(list, 'utf8')
    .split('\n')
    .map((line) => line.trim().replace(/^\//, ''))
  return [name, '.env*', '.env.*', '*.local', '.env*.local', '.env.*.local'].some((each) => patterns.includes(each))
}
