/** Bundles sources into one file, and keeps the file until one of its sources changes. @module */
import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

/** CommonJS inside of a bundle that is an ES module still calls `require`. */
const banner = `import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)`

const mark = '\n// '

/**
 * Makes the bundle unless the one at `outfile` is complete and its sources are unchanged.
 *
 * The last line of a bundle has the digest of the lines before, and the time of change and the size of each source. The
 * bundle is written to another name and then renamed, so another start sees the whole old one or the whole new one.
 * @param {object} options
 * @param {string} options.root - Folder of the workspace: names of files are stored relative to it.
 * @param {string} options.entry - The module to bundle.
 * @param {string} options.outfile - The path of the bundle. Node looks from there for the packages in `external`.
 * @param {readonly string[]} options.external - Packages that stay outside.
 * @param {readonly string[]} options.settings - More files that the result depends on: manifests, the lock file.
 */
export async function bundleSources({ root, entry, outfile, external, settings }) {
  if (isCurrent(root, outfile)) return
  const folder = dirname(outfile)
  mkdirSync(folder, { recursive: true })
  const draft = join(folder, `${process.pid}.${Date.now()}.draft`)
  try {
    writeFileSync(draft, '')
    const startedAt = statSync(draft).mtimeMs
    const { build } = await import('esbuild')
    const result = await build({
      absWorkingDir: root,
      entryPoints: [entry],
      outfile,
      write: false,
      metafile: true,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      conditions: ['@payment-integration/source'],
      banner: { js: banner },
      external: [...external],
      logLevel: 'error',
      plugins: [{ name: 'source-urls', setup: keepSourceUrls }],
    })
    const code = result.outputFiles[0]?.contents ?? new Uint8Array()
    const paths = [...Object.keys(result.metafile.inputs), ...settings.map((path) => relative(root, path))]
    const inputs = Object.fromEntries(
      paths.map((path) => {
        const { mtimeMs, size } = statSync(join(root, path))
        // esbuild may have read a file before it was saved during the build: the next start bundles again.
        return [path, mtimeMs < startedAt ? [mtimeMs, size] : []]
      }),
    )
    writeFileSync(draft, code)
    appendFileSync(draft, `${mark}${JSON.stringify({ digest: digest(code), root, inputs })}`)
    renameSync(draft, outfile)
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * @param {string} root
 * @param {string} outfile
 */
function isCurrent(root, outfile) {
  try {
    const bundle = readFileSync(outfile)
    const end = bundle.lastIndexOf(mark)
    const record = JSON.parse(bundle.toString('utf8', end + mark.length))
    // The bundle names files of its sources by absolute paths.
    if (record.root !== root || record.digest !== digest(bundle.subarray(0, end))) return false
    return Object.entries(record.inputs).every(([path, [mtimeMs, size]]) => {
      const now = statSync(join(root, path))
      return now.mtimeMs === mtimeMs && now.size === size
    })
  } catch {
    return false // missing, damaged, or a file of it is gone
  }
}

/** @param {Uint8Array} bytes */
const digest = (bytes) => createHash('sha1').update(bytes).digest('hex')

/**
 * A module that reads files beside itself finds them beside its source.
 * @param {import('esbuild').PluginBuild} hooks
 */
function keepSourceUrls(hooks) {
  hooks.onLoad({ filter: /[\\/]packages[\\/][^\\/]+[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
    const source = readFileSync(path, 'utf8')
    return { contents: source.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)), loader: 'ts' }
  })
}
