/**
 * Builds every package, or those that `npm run build -- client webhook` names. The compiler reads all of them once and
 * writes their declarations to a temporary folder. `tsup.config.ts` bundles those of each package from there.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '../..')
const chosen = process.argv.slice(2)
const existing = readdirSync(join(root, 'packages'))
for (const name of chosen) if (!existing.includes(name)) throw new Error(`There is no package ${name}.`)
const names = chosen.length > 0 ? chosen : existing
const declarations = realpathSync(mkdtempSync(join(tmpdir(), 'declarations-')))
try {
  process.exitCode = emitDeclarations() ? buildPackages() : 1
} finally {
  rmSync(declarations, { recursive: true, force: true })
}

/** `npm run types` checks the types. An error here means that a declaration cannot express a type. */
function emitDeclarations() {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const rootNames = names.flatMap((folder) => {
    const source = join(root, 'packages', folder, 'src')
    const entries = readdirSync(join(source, 'exports')).filter((file) => /(?<![.]test(-d)?)[.]ts$/.test(file))
    return entries.map((file) => join(source, 'exports', file))
  })
  const emit = { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: root, outDir: declarations }
  const host = ts.createCompilerHost({ ...options, ...emit })
  const { diagnostics } = ts.createProgram({ rootNames, options: { ...options, ...emit }, host }).emit()
  if (diagnostics.length > 0) console.error(ts.formatDiagnostics(diagnostics, host))
  // Lets the declarations import other packages as in the workspace.
  symlinkSync(join(root, 'node_modules'), join(declarations, 'node_modules'))
  return diagnostics.length === 0
}

function buildPackages() {
  const env = { ...process.env, DECLARATIONS: declarations }
  const workspaces = names.map((name) => `--workspace=packages/${name}`)
  return spawnSync('npm', ['run', 'build', ...workspaces], { cwd: root, env, stdio: 'inherit' }).status ?? 1
}
