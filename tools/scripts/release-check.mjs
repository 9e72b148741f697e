/**
 * Checks a release and makes its files. Usage: node tools/scripts/release-check.mjs [check ...]. Without a name
 * every check runs, which takes half an hour. Needs a commit without changes, and `npm ci` before it. Writes the
 * tarballs, `sbom.cdx.json` and `provenance.intoto.json` to `release/`. The last line is `N passed, N failed`; exit
 * code 0 when nothing failed.
 * @module
 */
import { copyFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { packAll } from './packages/pack.mjs'
import { run } from './packages/run.mjs'
import { getDependencies } from './release/dependencies.mjs'
import { findLicenseProblems } from './release/licenses.mjs'
import { buildProvenance, sha256Of } from './release/provenance.mjs'
import { findDifferences } from './release/reproducible.mjs'
import { buildBillOfMaterials } from './release/sbom.mjs'

const root = join(import.meta.dirname, '../..')
const release = join(root, 'release')
const temporary = await realpath(await mkdtemp(join(tmpdir(), 'release-')))

/** Each check returns its problems, one a line. */
const checks = {
  commit: async () => ((await git('status', '--porcelain')) === '' ? [] : ['the working tree has changes']),
  build: () => runCommand('npm', 'run', 'build'),
  tarballs: async () => {
    await rm(release, { recursive: true, force: true })
    await mkdir(release)
    for (const { tarball } of await packAll(root, temporary, []))
      await copyFile(tarball, join(release, basename(tarball)))
    return []
  },
  licenses: async () => findLicenseProblems((await readDependencies()).values()),
  sbom: async () => {
    const { version } = await getManifest('client')
    const bom = buildBillOfMaterials(await readDependencies(), { name: 'payment-integration', version })
    await writeFile(join(release, 'sbom.cdx.json'), bom)
    return []
  },
  provenance: async () => {
    const { repository } = await getManifest('client')
    if (repository === undefined)
      return ['no manifest names its repository: run node tools/scripts/release/set-repository.mjs']
    const facts = {
      tarballs: await listTarballs(),
      repository: repository.url.replace(/^git[+]|[.]git$/g, ''),
      commit: await git('rev-parse', 'HEAD'),
      lockDigest: await sha256Of(join(root, 'package-lock.json')),
      versions: { node: process.version, npm: (await run('npm', ['--version'])).stdout.trim() },
    }
    await writeFile(join(release, 'provenance.intoto.json'), await buildProvenance(facts))
    return []
  },
  reproducible: async () => findDifferences(root, temporary, await listTarballs()),
  changesets: async () => {
    const pending = (await git('ls-files', '.changeset/*.md')).split('\n').filter((path) => !path.endsWith('README.md'))
    const count = pending.filter(Boolean).length
    return count === 0 ? [] : [`${count} changesets are not in a changelog yet: run npm run version-packages`]
  },
  audit: () => runCommand('npm', 'audit', '--omit', 'dev'),
  packages: () => runCommand('npm', 'run', 'packages'),
  environments: () => runCommand('npm', 'run', 'environments'),
}

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !Object.hasOwn(checks, name))
if (unknown.length > 0) {
  console.error(`No check ${unknown.join(', ')}; there are ${Object.keys(checks).join(', ')}.`)
  process.exit(2)
}
let failed = 0
try {
  for (const [name, check] of Object.entries(checks).filter(([each]) => chosen.length === 0 || chosen.includes(each))) {
    const problems = await check().catch((error) => [error.message])
    console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${name}`)
    for (const problem of problems) console.log(`     ${problem.replaceAll('\n', '\n     ')}`)
    if (problems.length > 0) failed += 1
  }
} finally {
  await rm(temporary, { recursive: true, force: true })
}
console.log(`${(chosen.length || Object.keys(checks).length) - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function runCommand(name, ...args) {
  const { code, stdout, stderr } = await run(name, args, { cwd: root })
  return code === 0 ? [] : [`${name} ${args.join(' ')} failed: ${(stderr || stdout).slice(-4_000)}`]
}

async function git(...args) {
  const { code, stdout, stderr } = await run('git', args, { cwd: root })
  if (code !== 0) throw new Error(stderr)
  return stdout.trim()
}

async function getManifest(folder) {
  return JSON.parse(await readFile(join(root, 'packages', folder, 'package.json'), 'utf8'))
}

async function listFolders() {
  const paths = (await git('ls-files', 'packages/*/package.json')).split('\n')
  return paths.filter((path) => path.split('/').length === 3).map((path) => path.split('/')[1])
}

async function readDependencies() {
  return getDependencies(root, await listFolders())
}

async function listTarballs() {
  const { version } = await getManifest('client')
  return (await listFolders()).map((folder) => join(release, `payment-integration-${folder}-${version}.tgz`))
}
