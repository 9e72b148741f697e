/**
 * Checks the code that people copy. Every TypeScript block in a README or under docs/ compiles against the packages'
 * sources. Every block of a package's README or a guide has a runner (`readme-blocks.mjs`). Every example with a
 * `check` script passes it; its tests run under `npm test`. Exit code 0 without problems, else 1.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { blocksOf, unranBlocks } from './readme-blocks.mjs'

const root = join(import.meta.dirname, '../..')
const blocks = markdownFiles().flatMap(codeBlocks)
const problems = [...compile(blocks), ...unranBlocks(root), ...runChecks()]
for (const problem of problems) console.error(`  ${problem}`)
console.log(`examples: ${blocks.length} blocks of documentation, ${problems.length} problems`)
process.exitCode = problems.length > 0 ? 1 : 0

/** README files of the workspace and its packages, and the pages under docs/. */
function markdownFiles() {
  const folders = ['packages', 'examples'].filter((name) => existsSync(join(root, name)))
  const readmes = folders.flatMap((name) => readdirSync(join(root, name)).map((entry) => `${name}/${entry}/README.md`))
  const pages = readdirSync(join(root, 'docs'), { recursive: true })
    .map((page) => `docs/${page}`)
    .filter((page) => page.endsWith('.md'))
  return ['README.md', ...readmes, ...pages].filter((file) => existsSync(join(root, file)))
}

/** The ```ts blocks of a file, each with the line where its code begins. */
function codeBlocks(file) {
  return blocksOf(file, readFileSync(join(root, file), 'utf8'))
    .filter(({ language }) => language === 'ts')
    .map(({ index, line, code }) => ({
      // A name beside the packages, so that imports resolve as in the workspace. The file is never written.
      path: join(root, `block-${index}-of-${file.replaceAll('/', '-')}.ts`),
      code: `${code}\nexport {}\n`,
      file,
      line,
    }))
}

/** Compiles each block as a module of its own. A block may use names that the text around it introduces. */
function compile(sources) {
  const configFile = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(configFile.config, ts.sys, root)
  const relaxed = {
    ...options,
    noUnusedLocals: false,
    noUnusedParameters: false,
    noImplicitAny: false,
    noPropertyAccessFromIndexSignature: false,
  }
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const host = ts.createCompilerHost(relaxed)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (path) => byPath.has(path) || fileExists.call(host, path)
  host.readFile = (path) => byPath.get(path)?.code ?? readFile.call(host, path)
  host.getSourceFile = (path, ...rest) => {
    const virtual = byPath.get(path)
    return virtual ? ts.createSourceFile(path, virtual.code, ...rest) : getSourceFile.call(host, path, ...rest)
  }
  const program = ts.createProgram([...byPath.keys()], relaxed, host)
  const unknownName = new Set([2304, 2552, 18004])
  return sources.flatMap(({ path, file, line }) => {
    const source = program.getSourceFile(path)
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    return found
      .filter(({ code }) => !unknownName.has(code))
      .map(({ start = 0, messageText }) => {
        const place = `${file}:${line + source.getLineAndCharacterOfPosition(start).line}`
        return `${place} ${ts.flattenDiagnosticMessageText(messageText, '\n    ')}`
      })
  })
}

/** Runs `npm run check` of every example that has one. */
function runChecks() {
  const folder = join(root, 'examples')
  return (existsSync(folder) ? readdirSync(folder) : []).flatMap((name) => {
    const manifest = join(folder, name, 'package.json')
    if (!existsSync(manifest) || !JSON.parse(readFileSync(manifest, 'utf8')).scripts?.check) return []
    try {
      execFileSync('npm', ['run', 'check'], {
        cwd: join(folder, name),
        stdio: ['ignore', 'inherit', 'inherit'],
        timeout: 120_000,
      })
      return []
    } catch (error) {
      return [`${relative(root, join(folder, name))}: npm run check: ${error.message}`]
    }
  })
}
