/** Gathers the changelogs of the packages. @module */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mapProse } from './markdown.js'

/** One page: every release of each package, the newest first; says so when there is none. */
export function buildChangelogPage(root: string, files: readonly string[]): string {
  const changelogs = files.filter((file) => /^packages\/[^/]+\/CHANGELOG[.]md$/.test(file))
  const sections = changelogs.map((file) =>
    // Every heading moves one level down: the title of a changelog becomes a section of this page.
    mapProse(readFileSync(join(root, file), 'utf8'), (part) => part.replaceAll(/^#/gm, '##')).trim(),
  )
  const body = sections.length === 0 ? ['No release has been published yet.'] : sections
  const intro =
    'All packages share one version. What a release may change: [compatibility](/decisions/compatibility.md). What it asks of you: [upgrades](/upgrades.md#what-each-release-asks-of-you).'
  return `${['# Changelog', intro, ...body].join('\n\n')}\n`
}
