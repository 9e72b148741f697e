/** Decides which files `init` creates, changes or leaves unchanged, and writes them. @module */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { InitError, UsageError } from '../errors.js'
import { isIgnored } from '../files.js'
import { chooseLayout, type DatabaseName, type FrameworkName, frameworks, type Layout, mountLines } from './layout.js'
import { changeManifest, findTarballs, type Project, readText } from './project.js'
import { fromTemplate, type Target } from './template.js'

interface InitChoices {
  readonly framework: FrameworkName
  readonly database?: DatabaseName | undefined
  readonly path?: string | undefined
  /** A folder with tarballs of our packages. */
  readonly from?: string | undefined
}

/** A file to create (`before` is null) or to change. */
interface PlannedFile {
  readonly path: string
  readonly before: string | null
  readonly after: string
}

export type Plan = Awaited<ReturnType<typeof planInit>>

/** Plans the files of a receiver. @throws UsageError or InitError when an option or the project does not fit. */
export async function planInit(project: Project, choices: InitChoices) {
  const framework = frameworks[choices.framework]
  const database = chooseDatabase(project, choices)
  const listed = { ...project.manifest.dependencies, ...project.manifest.devDependencies }
  const absent = framework.needs.filter((name) => !Object.hasOwn(listed, name))
  if (absent.length > 0)
    throw new InitError(
      `package.json does not list ${absent.join(', ')}. Install ${absent.length === 1 ? 'it' : 'them'} first, or choose another framework.`,
    )
  const layout = chooseLayout(project, choices, database)
  const target = chooseTarget(project, choices.framework, layout.path)
  const files: PlannedFile[] = []
  /** Files that stay unchanged, and the lines that the user must add by hand. */
  const conflicts: { readonly path: string; readonly add: readonly string[] }[] = []

  for (const { path, template, accepts } of layout.files) {
    const after = await fromTemplate(template, target, buildWords(project, layout, path, target))
    const before = await readText(project.folder, path)
    if (before === null) files.push({ path, before, after })
    else if (before !== after && accepts?.(before) !== true) {
      const added = unifiedDiff(path, before, after).filter((line, index) => index > 1 && line.startsWith('+'))
      conflicts.push({ path, add: added.map((line) => line.slice(1)) })
    }
  }
  const packed = choices.from === undefined ? {} : await findTarballs(project.folder, choices.from)
  const changed = changeManifest(project, layout.manifest, packed)
  if (changed.conflicts.length > 0) conflicts.push({ path: 'package.json', add: changed.conflicts })
  await change('package.json', () => changed.text)
  await change('.env.example', (before) => changeEnvExample(before, database))
  const ignored = [
    '.env.local',
    ...(choices.framework === 'worker' ? ['.dev.vars'] : []),
    ...(database === 'sqlite' ? ['payments.db*'] : []),
  ]
  await change('.gitignore', (before) => changeGitignore(before, ignored))
  return { files, conflicts, steps: listSteps(choices, layout, project.folder) }

  async function change(path: string, edit: (before: string | null) => string): Promise<void> {
    const before = await readText(project.folder, path)
    const after = edit(before)
    if (before !== after) files.push({ path, before, after })
  }
}

function chooseDatabase({ manifest }: Project, { framework, database }: InitChoices): DatabaseName | null {
  const { title, databases } = frameworks[framework]
  if (database !== undefined && !databases.includes(database))
    throw new UsageError(
      databases.length === 0
        ? `${title} store versions in Durable Objects; omit --database.`
        : `${title} cannot use ${database}; pass --database ${databases.join(' or ')}.`,
    )
  if (database !== undefined) return database
  const usesPostgres = Object.hasOwn({ ...manifest.dependencies }, 'pg')
  return usesPostgres && databases.includes('postgres') ? 'postgres' : (databases[0] ?? null)
}

function chooseTarget(project: Project, framework: FrameworkName, path: string): Target {
  const { isTypeScript, extension, isModule, testRunner } = project
  // Next and Workers bundle ES modules, whatever `type` the package has.
  const isBundled = framework === 'next' || framework === 'worker'
  return {
    extension,
    isCommonJs: !isTypeScript && !isModule && !isBundled,
    namesExtension: !(isTypeScript && framework === 'next'),
    testRunner,
    path,
  }
}

function buildWords(project: Project, { folder }: Layout, path: string, { extension }: Target): Record<string, string> {
  const relative = posix.relative(posix.dirname(path), folder)
  return {
    PAYMENTS_FOLDER: path.includes('/') ? relative : folder,
    PROJECT_NAME:
      (project.manifest.name ?? 'payments')
        .replace(/[^a-z0-9-]+/g, '-')
        .split('-')
        .filter(Boolean)
        .join('-') || 'payments',
    EXTENSION: extension,
  }
}

/** The lines of a unified diff; none when the texts are equal. @param before - Null for a new file. */
export function unifiedDiff(path: string, before: string | null, after: string): string[] {
  if (before === after) return []
  const from = before === null ? '/dev/null' : `a/${path}`
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY }
  const diff = createTwoFilesPatch(from, `b/${path}`, before ?? '', after, undefined, undefined, options)
  return diff.split('\n').slice(0, -1)
}

function listSteps({ framework, from }: InitChoices, { folder, manifest, path }: Layout, project: string): string[] {
  const has = (script: string) => Object.hasOwn(manifest.scripts, script)
  const receiver = `--forward-to http://localhost:3000${path}`
  const demo =
    from === undefined
      ? `Make payments on this machine: npx @payment-integration/cli dev ${receiver}`
      : `In the clone, make payments: npm start -- ${receiver} --env "${join(project, '.env.local')}"`
  return [
    'Install the packages: npm install',
    'Run the test: npm run payments:test',
    ...(has('payments:migrate')
      ? ['Copy .env.example to .env.local, set the database there, and create the tables: npm run payments:migrate']
      : []),
    ...(framework === 'lambda' ? [] : [demo]),
    ...(has('payments')
      ? ['The demo writes the secrets to .env.local. Then start the webhook, in another terminal: npm run payments']
      : []),
    mountLines[framework](folder),
  ]
}

/** Writes the files, unless one was changed since the plan was made. @throws InitError `ERR_INIT` */
export async function writePlan(folder: string, files: readonly PlannedFile[]): Promise<void> {
  for (const { path, before } of files)
    if ((await readText(folder, path)) !== before)
      throw new InitError(`${path} was changed meanwhile; nothing was written. Run the command again.`)
  for (const { path, before, after } of files) {
    try {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), after, { flag: before === null ? 'wx' : 'w' })
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
      throw new InitError(`${path} could not be written (${code}). Correct this, then run the command again.`, {
        cause,
      })
    }
  }
}

const databaseUrls = { sqlite: 'sqlite:payments.db', postgres: 'postgres://user@127.0.0.1/shop' } as const

/** The five variables of an integrator, without `DATABASE_URL` where the platform stores the versions. */
function listVariables(database: DatabaseName | null): { name: string; about: string; value?: string }[] {
  return [
    { name: 'INTEGRATION_ADDRESS', about: 'The address of your integration: 0x and 40 hex digits.' },
    { name: 'API_SECRET', about: 'The secret of the read API.' },
    { name: 'WEBHOOK_SIGNING_SECRET', about: 'Signs notifications; in a rotation, two secrets separated by a comma.' },
    { name: 'PAYMENTS_URL', about: 'The base URL of the service.' },
    ...(database === null
      ? []
      : [{ name: 'DATABASE_URL', about: 'The database of the receiver.', value: databaseUrls[database] }]),
  ]
}

function changeEnvExample(before: string | null, database: DatabaseName | null): string {
  const text = before ?? ''
  const present = new Set(text.split('\n').map((line) => /^[# \t]*(?:export\s)?([A-Z0-9_]+)=/.exec(line)?.[1]))
  const missing = listVariables(database).filter(({ name }) => !present.has(name))
  const lines = missing.map(({ name, about, value = '' }) => `# ${about}\n${name}=${value}\n`)
  return before !== null && missing.length === 0 ? before : withFinalLineBreak(text) + lines.join('')
}

/** Adds the files that hold secrets and payments to `.gitignore`, unless a line already covers them. */
function changeGitignore(before: string | null, files: readonly string[]): string {
  const text = before ?? ''
  const missing = files.filter((file) => !isIgnored(text, file))
  return missing.length === 0 ? text : `${withFinalLineBreak(text)}${missing.join('\n')}\n`
}

function withFinalLineBreak(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
