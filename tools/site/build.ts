/**
 * Builds the site into `tools/site/dist`. `--api` runs typedoc first, `--serve` shows the site afterwards.
 * `--sample` builds a few pages of each kind into `tools/site/.sample`, for the browser test.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { build, serve } from 'vitepress'
import { wordsPerPath } from './generate/words-per-path.js'
import { writePages } from './generate/write-pages.js'
import { sample } from './sample.js'
import { findWrongHits } from './search.js'

const root = join(import.meta.dirname, '../..')
const options = new Set(process.argv.slice(2))
const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: root, stdio: 'inherit' })

if (options.has('--sample')) {
  await writePages(root, sample)
  await build(join(root, 'tools/site'), { outDir: join(root, 'tools/site/.sample') })
} else {
  if (options.has('--api')) run('npx', 'typedoc', '--options', 'tools/site/typedoc.json')
  const count = await writePages(root)
  await build(join(root, 'tools/site'))
  for (const line of wordsPerPath(join(root, 'tools/site/.pages'))) console.log(line)
  console.log(`site: ${count} pages in tools/site/dist`)
  run('node', 'tools/site/check-links.mjs', 'tools/site/dist')
  const wrong = await findWrongHits(join(root, 'tools/site/dist'))
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
  if (options.has('--serve')) await serve({ root: join(root, 'tools/site'), port: 4173 })
}
