/** Packs the workspace packages as npm would publish them. @module */
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run.mjs'

/**
 * @typedef {object} Packed
 * @property {string} folder - Name under packages/.
 * @property {string} source - Folder of the package in the workspace.
 * @property {string} tarball - Path of the .tgz.
 * @property {string} unpacked - Folder with the tarball's content.
 * @property {string[]} files - Paths in the tarball.
 * @property {Record<string, any>} manifest - package.json of the tarball.
 * @property {boolean} isDual - Whether it promises `require` beside `import`.
 */

/**
 * Packs each package and unpacks the tarball beside it.
 * @param {string} root - The workspace.
 * @param {string} into - An empty folder.
 * @param {readonly string[]} only - Folders under packages/, packed with the workspace packages that they need; all
 * when empty.
 * @returns {Promise<Packed[]>}
 * @throws {Error} When a package is not built, or npm cannot pack it.
 */
export async function packAll(root, into, only) {
  const entries = await readdir(join(root, 'packages'), { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  const unknown = only.filter((name) => !folders.includes(name))
  if (unknown.length) throw new Error(`No package ${unknown.join(', ')}; there are ${folders.join(', ')}.`)
  const chosen = await withDependencies(only.length ? only : folders, async (folder) => {
    const manifest = JSON.parse(await readFile(join(root, 'packages', folder, 'package.json'), 'utf8'))
    return Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  })
  const workspaces = chosen.flatMap((folder) => ['--workspace', `packages/${folder}`])
  const packed = await run('npm', ['pack', '--json', '--pack-destination', into, ...workspaces], { cwd: root })
  if (packed.code !== 0) throw new Error(`npm pack failed: ${packed.stderr}`)
  const reports = JSON.parse(packed.stdout)
  return Promise.all(
    chosen.map(async (folder) => {
      const report = reports.find(({ name }) => name === `@payment-integration/${folder}`)
      const files = report.files.map(({ path }) => path)
      if (!files.some((path) => path.startsWith('dist/')))
        throw new Error(`packages/${folder} has no dist; run \`npm run build\` first.`)
      const tarball = join(into, report.filename)
      const unpacked = join(into, folder)
      await mkdir(unpacked)
      const untarred = await run('tar', ['-xzf', tarball, '-C', unpacked, '--strip-components', '1'])
      if (untarred.code !== 0) throw new Error(`tar could not unpack ${tarball}: ${untarred.stderr}`)
      const manifest = JSON.parse(await readFile(join(unpacked, 'package.json'), 'utf8'))
      const isDual = Object.values(manifest.exports).some((entry) => entry.require !== undefined)
      return { folder, source: join(root, 'packages', folder), tarball, unpacked, files, manifest, isDual }
    }),
  )
}

/**
 * The folders, and those of every workspace package that they list, directly or through another.
 * @param {readonly string[]} folders
 * @param {(folder: string) => string[] | Promise<string[]>} getListed - The names that a package lists.
 */
export async function withDependencies(folders, getListed) {
  const found = new Set()
  const unvisited = [...folders]
  for (let folder = unvisited.pop(); folder !== undefined; folder = unvisited.pop()) {
    if (found.has(folder)) continue
    found.add(folder)
    for (const name of await getListed(folder))
      if (name.startsWith('@payment-integration/')) unvisited.push(name.slice('@payment-integration/'.length))
  }
  return [...found]
}
