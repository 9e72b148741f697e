/** Generates the list of the core's events from their types. @module */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { toCell } from './markdown.js'

/** One page: every event with its fields. */
export function buildEventsPage(root: string): string {
  const text = readFileSync(join(root, 'packages/core/src/events.ts'), 'utf8')
  const source = ts.createSourceFile('events.ts', text, ts.ScriptTarget.Latest, true)
  const rows: string[] = []
  source.forEachChild((node) => {
    if (ts.isTypeAliasDeclaration(node) && node.name.text === 'ServiceEvent') rows.push(...getRows(node.type, text))
  })
  if (rows.length === 0) throw new Error('packages/core/src/events.ts has no union ServiceEvent.')
  return [
    '---',
    'aside: false',
    '---',
    '',
    '# Events',
    '',
    'What `onEvent` of a service receives. An event is reported after its change is durable.',
    '',
    '| Event | Meaning | Fields |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

function getRows(type: ts.TypeNode, text: string): string[] {
  if (ts.isUnionTypeNode(type)) return type.types.map((member) => getRow(member, text))
  return []
}

function getRow(member: ts.TypeNode, text: string): string {
  const about = ts.getLeadingCommentRanges(text, member.pos)?.at(-1) ?? findCommentBefore(text, member.getStart())
  const meaning = about === undefined ? '' : text.slice(about.pos, about.end).replaceAll(/^\/\*\*|\*\/$|^\s*\* ?/gm, '')
  const fields: string[] = []
  let name = ''
  const visit = (node: ts.Node): void => {
    if (ts.isPropertySignature(node) && ts.isIdentifier(node.name)) {
      if (node.name.text === 'type') name = node.type?.getText().replaceAll("'", '') ?? ''
      else fields.push(`\`${node.name.text}\``)
    } else if (ts.isTypeReferenceNode(node)) fields.push(`those of \`${node.getText()}\``)
    else ts.forEachChild(node, visit)
  }
  visit(member)
  return `| \`${name}\` | ${toCell(meaning)} | ${fields.join(', ')} |`
}

/** The comment that ends just before the bar of a union's member. */
function findCommentBefore(text: string, start: number): { pos: number; end: number } | undefined {
  const before = text.slice(0, start).replace(/\s*[|]\s*$/, '')
  return before.endsWith('*/') ? { pos: before.lastIndexOf('/**'), end: before.length } : undefined
}
