/** Makes copies of the environments, with the packages installed from their tarballs. @module */
import { existsSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { packAll, withDependencies } from '../packages/pack.mjs'
import { runOrThrow } from './child.mjs'

/** Packages that each environment gets from their tarballs, with what they depend on. */
const packagesByEnvironment = {
  integrator: ['webhook', 'version-store', 'client', 'mirror', 'contract', 'identity-sumsub', 'testing'],
  service: ['cli', 'testing'],
  'better-sqlite3': ['version-store'],
}

/**
 * Packs the packages once and makes copies of the environments. Nothing is fetched for the tarballs: what they need has
 * to be in the environment's lock file.
 * @param {string} root - The workspace.
 * @param {string} temporary - An empty folder outside of the workspace, so that nothing resolves into it.
 * @returns {{ packed: Promise<import('../packages/pack.mjs').Packed[]>, environment: (name: string) => Promise<string>
 * }} `environment` resolves the folder of an installed copy; each is made once, when it is first asked for.
 */
export function prepare(root, temporary) {
  const tarballs = join(temporary, 'tarballs')
  const packed = mkdir(tarballs).then(() => packAll(root, tarballs, []))
  // A caller of `environment` gets the error.
  packed.catch(() => {})
  const installations = new Map()
  return {
    packed,
    environment(name) {
      if (!installations.has(name)) installations.set(name, install(root, temporary, name, packed))
      return installations.get(name)
    },
  }
}

async function install(root, temporary, name, packed) {
  const folder = join(temporary, name)
  await cp(join(root, 'tools/environments', name), folder, {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  })
  await runOrThrow('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: folder,
    seconds: 240,
  })
  if (name === 'better-sqlite3') await buildFromSource(folder)
  const chosen = packagesByEnvironment[name]
  if (chosen === undefined) return folder
  const all = await packed
  const folders = await withDependencies(chosen, (packageFolder) => {
    const { manifest } = all.find((one) => one.folder === packageFolder) ?? {}
    if (manifest === undefined) throw new Error(`There is no package ${packageFolder}.`)
    return Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
  })
  const files = all.filter((one) => folders.includes(one.folder)).map(({ tarball }) => tarball)
  const flags = ['--offline', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
  await runOrThrow('npm', ['install', ...flags, ...files], { cwd: folder, seconds: 120 }).catch((error) => {
    throw new Error(
      `The tarballs need something that tools/environments/${name} does not list. Add it there with npm install.\n${error.message}`,
    )
  })
  return folder
}

/** Compiles the driver for the Node that runs this, without optimization, which would double the time. */
async function buildFromSource(folder) {
  const nodeFolder = dirname(dirname(process.execPath))
  const headers = existsSync(join(nodeFolder, 'include/node/node.h')) ? { npm_config_nodedir: nodeFolder } : {}
  const env = { ...headers, npm_config_build_from_source: 'true', CFLAGS: '-O0', CXXFLAGS: '-O0', JOBS: '2' }
  await runOrThrow('npm', ['rebuild', '--foreground-scripts', 'better-sqlite3'], { cwd: folder, env, seconds: 240 })
}
