/** Takes the pages that typedoc wrote for the packages. @module */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Pages by route; none when typedoc has not run, which takes minutes. */
export function apiPages(folder: string): Map<string, string> {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.md') && !name.startsWith('_media'),
  )
  return new Map(names.map((name) => [`api/${name.replace(/[.]md$/, '')}`, readFileSync(join(folder, name), 'utf8')]))
}
