/** Removes the types from a template of `init`. @module */
import ts from 'typescript'

/** A range of the text, and its replacement. */
type Edit = readonly [from: number, to: number, by: string]

/**
 * The same program as JavaScript, with its comments. Declarations of types go together with their comments.
 * @param text - TypeScript without enums, namespaces and parameter properties.
 */
export function stripTypes(text: string): string {
  const edits: Edit[] = []

  function visit(node: ts.Node): void {
    if (ts.isTypeNode(node)) return
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node))
      return void edits.push([node.getFullStart(), node.getEnd(), ''])
    if (ts.isImportDeclaration(node) && node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword)
      return void edits.push([node.getStart(), node.getEnd() + 1, ''])
    edits.push(...(ts.isNamedImports(node) ? editsOfImports(node) : editsOf(node, text)))
    ts.forEachChild(node, visit)
  }

  visit(ts.createSourceFile('template.ts', text, ts.ScriptTarget.Latest, true))
  let result = text
  for (const [from, to, by] of edits.sort(([a], [b]) => b - a)) result = result.slice(0, from) + by + result.slice(to)
  return result
}

/** Annotations, type arguments, type parameters, `as`, the `?` of a parameter, and `readonly`. */
function editsOf(node: ts.Node, text: string): Edit[] {
  if (ts.isAsExpression(node)) return [[node.expression.getEnd(), node.getEnd(), '']]
  const { type, questionToken, typeArguments, typeParameters, modifiers } = node as ts.Node & {
    readonly type?: ts.TypeNode
    readonly questionToken?: ts.Node
    readonly typeArguments?: ts.NodeArray<ts.Node>
    readonly typeParameters?: ts.NodeArray<ts.Node>
    readonly modifiers?: ts.NodeArray<ts.Node>
  }
  const isReadonly = ({ kind }: ts.Node) => kind === ts.SyntaxKind.ReadonlyKeyword
  return [
    ...(type ? [[text.lastIndexOf(':', type.getStart()), type.getEnd(), ''] as const] : []),
    ...(questionToken && ts.isParameter(node) ? [[questionToken.getStart(), questionToken.getEnd(), ''] as const] : []),
    ...[typeArguments, typeParameters].flatMap((list) => (list ? [[list.pos - 1, list.end + 1, ''] as const] : [])),
    ...(modifiers ?? []).filter(isReadonly).map((each) => [each.getStart(), each.getEnd() + 1, ''] as const),
  ]
}

/** `type` names of an import; the braces or the whole line when no other name is left. */
function editsOfImports(node: ts.NamedImports): Edit[] {
  const values = node.elements.filter(({ isTypeOnly }) => !isTypeOnly).map((element) => element.getText())
  if (values.length === node.elements.length) return []
  if (values.length > 0) return [[node.getStart(), node.getEnd(), `{ ${values.join(', ')} }`]]
  const { name, parent: declaration } = node.parent
  return name ? [[name.getEnd(), node.getEnd(), '']] : [[declaration.getStart(), declaration.getEnd() + 1, '']]
}
