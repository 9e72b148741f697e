/** Bundles a small workspace in processes of their own, as a start of the command does. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { beforeEach, expect, it, onTestFinished } from 'vitest'

const bundler = pathToFileURL(join(import.meta.dirname, 'source-bundle.mjs')).href
let root: string
let sources: string
let outfile: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'source-bundle-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  sources = join(root, 'packages/shop/src')
  outfile = join(root, 'cache/command.mjs')
  mkdirSync(sources, { recursive: true })
  writeFileSync(join(sources, 'bin.ts'), "import { price } from './price.js'\nconsole.log(price, import.meta.url)\n")
  writeFileSync(join(sources, 'price.ts'), 'export const price: number = 1\n')
  writeFileSync(join(root, 'settings.json'), '{}')
})

/** What the command prints: the price and its own address. */
async function start(): Promise<string> {
  const entry = join(sources, 'bin.ts')
  const options = { root, entry, outfile, external: [], settings: [join(root, 'settings.json')] }
  const program = `
    import { bundleSources } from ${JSON.stringify(bundler)}
    await bundleSources(${JSON.stringify(options)})
    await import(${JSON.stringify(pathToFileURL(outfile).href)})`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  return stdout.trim()
}
const printed = (price: number) => `${price} ${pathToFileURL(join(sources, 'bin.ts')).href}`
const bundleFile = () => statSync(outfile).ino

it('keeps the bundle while nothing changes, and makes it anew when a source or a setting does', async () => {
  expect(await start()).toBe(printed(1))
  const first = bundleFile()
  expect(await start()).toBe(printed(1))
  expect(bundleFile()).toBe(first)

  writeFileSync(join(sources, 'price.ts'), 'export const price: number = 2\n')
  expect(await start()).toBe(printed(2))
  const second = bundleFile()
  expect(second).not.toBe(first)

  writeFileSync(join(root, 'settings.json'), '{ "changed": true }')
  await start()
  expect(bundleFile()).not.toBe(second)
})

it('makes the bundle anew in a folder that was moved with it', async () => {
  await start()
  const moved = `${root}-moved`
  renameSync(root, moved)
  sources = sources.replace(root, moved)
  outfile = outfile.replace(root, moved)
  root = moved
  expect(await start()).toBe(printed(1))
})

it('makes a damaged or partial bundle anew', async () => {
  await start()
  const whole = readFileSync(outfile, 'utf8')
  for (const broken of ['', whole.slice(0, whole.length / 2), whole.replace('price = 1', 'price = 7')]) {
    writeFileSync(outfile, broken)
    expect(await start()).toBe(printed(1))
  }
})

it('lets two starts at once bundle, and leaves one file', async () => {
  expect(await Promise.all([start(), start()])).toEqual([printed(1), printed(1)])
  expect(readdirSync(join(root, 'cache'))).toEqual(['command.mjs'])
})

it('leaves no bundle of sources that do not compile', async () => {
  writeFileSync(join(sources, 'price.ts'), 'export const price = ')
  await expect(start()).rejects.toThrow('price.ts')
  expect(readdirSync(join(root, 'cache'))).toEqual([])
})
