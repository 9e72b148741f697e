/** Reads a table of figures from a Markdown page. @module */

/** A row by its columns' titles; the first column's title is empty in most tables. */
export type Row = Readonly<Record<string, string>>

/**
 * The n-th table below a heading, before the next heading.
 * @param heading - The heading's text, or its beginning.
 * @throws Error when there is none.
 */
export function readTable(markdown: string, heading: string, n = 1): Row[] {
  const lines = markdown.split('\n')
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '').startsWith(heading))
  if (start < 0) throw new Error(`No heading begins with ${JSON.stringify(heading)}.`)
  const length = lines.slice(start + 1).findIndex((line) => /^#+ /.test(line))
  const section = lines.slice(start + 1, length < 0 ? undefined : start + 1 + length)
  const heads = section.flatMap((line, at) => (/^\|( *:?-+:? *\|)+$/.test(line) ? [at - 1] : []))
  const head = heads[n - 1]
  if (head === undefined) throw new Error(`${JSON.stringify(heading)} has no table ${n}.`)
  const titles = cellsOf(section[head] ?? '')
  const end = section.slice(head).findIndex((line) => !line.startsWith('|'))
  return section
    .slice(head + 2, end < 0 ? undefined : head + end)
    .map((line) => Object.fromEntries(cellsOf(line).map((cell, at) => [titles[at] ?? '', cell])))
}

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}
