/** Takes the pages that typedoc wrote for the packages. @module */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { outsideCode } from './outside-code.js'

/** Pages by route; none when typedoc has not run. */
export function apiPages(folder: string): Map<string, string> {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  return new Map(
    names.map((name) => [
      `api/${name.replace(/[.]md$/, '')}`,
      outsideCode(readFileSync(join(folder, name), 'utf8'), withFewerHeadings),
    ]),
  )
}

/** Only what a link can lead to keeps a heading: the search has a section for each heading. */
function withFewerHeadings(text: string): string {
  return text
    .replaceAll(/^#{4,6} (?:Overrides|Inherited from|Implementation of)\n\n.*\n+/gm, '')
    .replaceAll(/<a id="[^"]*"><\/a> ?/g, '')
    .replaceAll(/^## (.*)$/gm, (_, group: string) => `## ${group} {#group-${group.toLowerCase().replaceAll(' ', '-')}}`)
    .replaceAll(/^#{4,6} (.*)$/gm, (_, title: string) => (title.endsWith('}') ? `#### ${title}` : `**${title}**`))
}
