/** Adds variables to `.env.example`, and `.env.local` to `.gitignore`. @module */
import type { DatabaseName } from './frameworks.js'

/** A variable, with the comment above it. */
interface Variable {
  readonly name: string
  readonly about: string
  readonly value?: string
}

const databaseUrls = { sqlite: 'sqlite:payments.db', postgres: 'postgres://user@127.0.0.1/shop' } as const

/** The five values of an integration; four where the platform stores the versions. */
function variablesOf(database: DatabaseName | null): Variable[] {
  return [
    { name: 'INTEGRATION_ADDRESS', about: 'The address of your integration: 0x and 40 hex digits.' },
    { name: 'API_SECRET', about: 'The secret of the read API.' },
    { name: 'WEBHOOK_SIGNING_SECRET', about: 'The secret that signs notifications; two, with a comma, in a rotation.' },
    { name: 'PAYMENTS_URL', about: 'The base URL of the service.' },
    ...(database === null
      ? []
      : [{ name: 'DATABASE_URL', about: 'The database of the receiver.', value: databaseUrls[database] }]),
  ]
}

/** `.env.example` with the missing variables at its end. */
export function changeEnvExample(before: string | null, database: DatabaseName | null): string {
  const text = before ?? ''
  const present = new Set(text.split('\n').map((line) => /^[# \t]*(?:export\s)?([A-Z0-9_]+)=/.exec(line)?.[1]))
  const missing = variablesOf(database).filter(({ name }) => !present.has(name))
  const lines = missing.map(({ name, about, value = '' }) => `# ${about}\n${name}=${value}\n`)
  return before !== null && missing.length === 0 ? before : withEnd(text) + lines.join('')
}

/** Lines of `.gitignore` that cover a file. */
function covering(file: string): string[] {
  return file.startsWith('.env') ? [file, '.env*', '.env.*', '*.local'] : [file, '*.db', '*.db*']
}

/** `.gitignore` with the files that hold secrets and payments, unless a line covers them. */
export function changeGitignore(before: string | null, files: readonly string[]): string {
  const text = before ?? ''
  const lines = new Set(text.split('\n').map((line) => line.trim().replace(/^\//, '')))
  const missing = files.filter((file) => !covering(file).some((line) => lines.has(line)))
  return missing.length === 0 ? text : `${withEnd(text)}${missing.join('\n')}\n`
}

function withEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
