/** Writes the values of a demo run to a file that frameworks load. A value of the user is never changed. @module */
import { isUtf8 } from 'node:buffer'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import type { ReadyEvent } from './demo-events.js'

/** First and last line of the part that the demo may replace. */
const begin =
  '# Written by payment-integration dev, whose next run replaces this part. Delete it to use values of your own.'
const end = '# End of payment-integration dev.'

/** The outcome for the file. */
export type EnvFileResult =
  | { readonly kind: 'written'; readonly path: string; readonly ignored: boolean }
  /** The user has set one of the values, or the file is no UTF-8. */
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

/**
 * Writes the values between two marker lines at the end of the file, and keeps all other lines. If one of them sets a
 * value already, nothing is written: the value is the user's. The written file is readable for its owner alone, also
 * where an earlier one was not. Rejects with the error of the disk.
 */
export function writeEnvFile(path: string, values: Readonly<Record<string, string>>): EnvFileResult {
  const result = { path, ignored: isIgnored(path) }
  const isThere = existsSync(path)
  const bytes = isThere ? readFileSync(path) : Buffer.alloc(0)
  // Decoding and encoding would damage it.
  if (!isUtf8(bytes)) return { kind: 'kept', ...result }
  const outside = withoutOwnPart(bytes.toString())
  // Frameworks skip a byte order mark, and Node's parser takes it for a part of the first name.
  const set = parseEnv(outside.replace(/^\ufeff/, ''))
  if (Object.keys(values).some((name) => set[name])) return { kind: 'kept', ...result }
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}`)
  const before = outside === '' || outside.endsWith('\n') ? outside : `${outside}\n`
  if (isThere) tighten(path)
  writeFileSync(path, `${before}${[begin, ...lines, end].join('\n')}\n`, { mode: 0o600 })
  return { kind: 'written', ...result }
}

/** The text without the part of an earlier run, whatever line ends an editor gave it. A part that is cut is theirs. */
function withoutOwnPart(text: string): string {
  const lines = text.split(/(?<=\n)/)
  const from = lines.findIndex((line) => line.trim() === begin)
  const to = lines.findIndex((line, index) => index > from && line.trim() === end)
  return from < 0 || to < 0 ? text : lines.filter((_, index) => index < from || index > to).join('')
}

/** Takes the file from everybody but its owner. */
function tighten(path: string): void {
  const { mode } = statSync(path)
  if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700)
}

/** Whether a `.gitignore` beside the file names it, exactly or by a common pattern. */
function isIgnored(path: string): boolean {
  const list = join(dirname(path), '.gitignore')
  if (!existsSync(list)) return false
  const name = basename(path)
  const patterns = readFileSync(list, 'utf8')
    .split('\n')
    .map((line) => line.trim().replace(/^\//, ''))
  return [name, '.env*', '.env.*', '*.local', '.env*.local', '.env.*.local'].some((each) => patterns.includes(each))
}
