/**
 * Builds the site into `tools/site/dist`. `--api` runs typedoc first, `--serve` shows the site afterwards.
 * `--browser` opens pages of each kind in Chromium.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { build, serve } from 'vitepress'
import { findFlawsInBrowser } from './browser.js'
import { countWordsPerPath } from './generate/words-per-path.js'
import { writePages } from './generate/write-pages.js'
import { findWrongHits } from './search.js'

const root = join(import.meta.dirname, '../..')
const options = new Set(process.argv.slice(2))
const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: root, stdio: 'inherit' })

if (options.has('--api')) run('npx', 'typedoc', '--options', 'tools/site/typedoc.json')
const count = await writePages(root)
await build(join(root, 'tools/site'))
for (const line of countWordsPerPath(join(root, 'tools/site/.pages'))) console.log(line)
console.log(`site: ${count} pages in tools/site/dist`)
const dist = join(root, 'tools/site/dist')
run('node', 'tools/site/check-links.mjs', dist)
const flaws = await findWrongHits(dist)
if (options.has('--browser')) flaws.push(...(await findFlawsInBrowser(dist)))
if (flaws.length > 0) throw new Error(flaws.join('\n'))
if (options.has('--serve')) await serve({ root: join(root, 'tools/site'), port: 4173 })
