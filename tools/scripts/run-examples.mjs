/**
 * Checks the code that people copy. Every TypeScript block in a README or under docs/, and every `@example` of a
 * docstring, compiles against the packages' sources. An `@example` imports or declares each name that it uses. Every
 * block of a package's README or a guide has a runner (`readme-blocks.mjs`). Every example with a `check` script passes
 * it; its tests run under `npm test`. Exit code 0 without problems, else 1.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { findUnrunBlocks, getBlocks } from './readme-blocks.mjs'

const root = join(import.meta.dirname, '../..')
const documented = listMarkdownFiles().flatMap(getCodeBlocks)
const docstrings = listSourceFiles().flatMap(getDocstringExamples)
const blocks = [...documented, ...docstrings]
const problems = [...compile(blocks), ...findUnrunBlocks(root), ...runChecks()]
for (const problem of problems) console.error(`  ${problem}`)
console.log(
  `examples: ${documented.length} blocks of documentation, ${docstrings.length} docstrings, ${problems.length} problems`,
)
process.exitCode = problems.length > 0 ? 1 : 0

/** README files of the workspace and its packages, and the pages under docs/. */
function listMarkdownFiles() {
  const folders = ['packages', 'examples'].filter((name) => existsSync(join(root, name)))
  const readmes = folders.flatMap((name) => readdirSync(join(root, name)).map((entry) => `${name}/${entry}/README.md`))
  const pages = readdirSync(join(root, 'docs'), { recursive: true })
    .map((page) => `docs/${page}`)
    .filter((page) => page.endsWith('.md'))
  return ['README.md', ...readmes, ...pages].filter((file) => existsSync(join(root, file)))
}

/** The ```ts blocks of a file, each with the line where its code begins. */
function getCodeBlocks(file) {
  return getBlocks(file, readFileSync(join(root, file), 'utf8'))
    .filter(({ language }) => language === 'ts')
    .map(({ index, line, code }) => ({
      // A name beside the packages, so that imports resolve as in the workspace. The file is never written.
      path: join(root, `block-${index}-of-${file.replaceAll('/', '-')}.ts`),
      code: `${code}\nexport {}\n`,
      file,
      line,
    }))
}

/** Source files of the packages, without tests. */
function listSourceFiles() {
  return readdirSync(join(root, 'packages')).flatMap((name) =>
    readdirSync(join(root, 'packages', name, 'src'), { recursive: true })
      .filter((path) => /\.tsx?$/.test(path) && !/\.test(-d)?\./.test(path))
      .map((path) => `packages/${name}/src/${path}`),
  )
}

/** The `@example` of each docstring in a file: the rest of its line, and the lines up to the next tag. */
function getDocstringExamples(file) {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/^ *(?:\/\*)?\* @example\b((?:.*\n(?: *\*(?!\/| @).*\n)*))/gm)].map((match, index) => ({
    path: join(root, `example-${index}-of-${file.replaceAll('/', '-')}`),
    code: `${match[1].replace(/^ *\*(?!\/) ?/gm, '').replace(/\*\/\s*$/, '')}\nexport {}\n`,
    file,
    line: text.slice(0, match.index).split('\n').length,
  }))
}

/** Compiles each block as a module of its own. Documentation may use names that the text around it introduces. */
function compile(sources) {
  const configFile = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(configFile.config, ts.sys, root)
  const relaxed = {
    ...options,
    noUnusedLocals: false,
    noUnusedParameters: false,
    noPropertyAccessFromIndexSignature: false,
  }
  const sourcesByPath = new Map(sources.map((source) => [source.path, source]))
  const host = ts.createCompilerHost(relaxed)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (path) => sourcesByPath.has(path) || fileExists.call(host, path)
  host.readFile = (path) => sourcesByPath.get(path)?.code ?? readFile.call(host, path)
  host.getSourceFile = (path, ...rest) => {
    const virtual = sourcesByPath.get(path)
    return virtual ? ts.createSourceFile(path, virtual.code, ...rest) : getSourceFile.call(host, path, ...rest)
  }
  const program = ts.createProgram([...sourcesByPath.keys()], relaxed, host)
  // Compiler errors for unknown names; 2582 and 2593 are for names of a test runner, 7000 to 7099 for missing types.
  const unknownNameCodes = new Set([2304, 2552, 2582, 2593, 18004])
  const isIntroduced = (file, code) =>
    file.endsWith('.md') && (unknownNameCodes.has(code) || (code >= 7000 && code < 7100))
  // Module not found: a relative path names a file of the reader's own.
  const isReadersFile = ({ code, messageText }) => code === 2307 && /module '\.{1,2}\//.test(messageText)
  return sources.flatMap(({ path, file, line }) => {
    const source = program.getSourceFile(path)
    const diagnostics = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    return diagnostics
      .filter((each) => !isIntroduced(file, each.code) && !isReadersFile(each))
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
        timeout: 300_000,
      })
      return []
    } catch (error) {
      return [`${relative(root, join(folder, name))}: npm run check: ${error.message}`]
    }
  })
}
