/** Removes the types from a template of `init`. @module */
import ts from 'typescript'

/**
 * The same program as JavaScript, with its comments. Declarations of types go together with their comments.
 * @param {string} text - TypeScript without enums, namespaces and parameter properties.
 */
export function stripTypes(text) {
  const file = ts.createSourceFile('template.ts', text, ts.ScriptTarget.Latest, true)
  /** @type {[number, number][]} */
  const cuts = []
  const cut = (from, to) => void cuts.push([from, to])
  /** From the end of the token before the node, as in `name: Type` and `call<Type>`. */
  const cutAfter = (previousEnd, node) => cut(previousEnd, node.getEnd())

  function visit(node) {
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node))
      return cut(node.getFullStart(), node.getEnd())
    if (ts.isImportDeclaration(node) && node.importClause?.isTypeOnly) return cut(node.getStart(), node.getEnd() + 1)
    if (ts.isNamedImports(node)) return cutTypeSpecifiers(node)
    if (ts.isAsExpression(node)) {
      cut(node.expression.getEnd(), node.getEnd())
      return visit(node.expression)
    }
    if (node.type && !ts.isTypeNode(node)) cutAfter(colonBefore(node.type), node.type)
    if (node.questionToken && ts.isParameter(node)) cut(node.questionToken.getStart(), node.questionToken.getEnd())
    for (const list of [node.typeArguments, node.typeParameters]) if (list) cut(list.pos - 1, list.end + 1)
    for (const modifier of node.modifiers ?? [])
      if (modifier.kind === ts.SyntaxKind.ReadonlyKeyword) cut(modifier.getStart(), modifier.getEnd() + 1)
    ts.forEachChild(node, (child) => (ts.isTypeNode(child) ? undefined : visit(child)))
  }

  function colonBefore(type) {
    return text.lastIndexOf(':', type.getStart())
  }

  function cutTypeSpecifiers(node) {
    const kept = node.elements.filter((element) => !element.isTypeOnly).map((element) => element.getText())
    if (kept.length === node.elements.length) return
    const clause = node.parent
    if (kept.length > 0) replaced.push([node.getStart(), node.getEnd(), `{ ${kept.join(', ')} }`])
    else if (clause.name) cut(clause.name.getEnd(), node.getEnd())
    else cut(clause.parent.getStart(), clause.parent.getEnd() + 1)
  }

  /** @type {[number, number, string][]} */
  const replaced = []
  visit(file)
  const edits = [...cuts.map(([from, to]) => /** @type {const} */ ([from, to, ''])), ...replaced]
  edits.sort(([a], [b]) => b - a)
  let result = text
  for (const [from, to, by] of edits) result = result.slice(0, from) + by + result.slice(to)
  return result
}
