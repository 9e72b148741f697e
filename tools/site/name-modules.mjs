/** Names each module of the API reference as an import names it, and groups what it exports. @module */
import { Comment, CommentTag, Converter, ReflectionKind } from 'typedoc'

/** A plugin of typedoc. @param {import('typedoc').Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_context, reflection) => {
    if (reflection.kindOf(ReflectionKind.Module)) reflection.name = getImportName(reflection.name)
  })
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const reflection of project.getReflectionsByKind(ReflectionKind.ClassOrInterface | ReflectionKind.TypeAlias)) {
      const group = getGroup(reflection)
      if (group === null) continue
      reflection.comment ??= new Comment()
      reflection.comment.blockTags.push(new CommentTag('@group', [{ kind: 'text', text: group }]))
    }
  })
}

/** `client/src/exports/amounts` is imported as `@payment-integration/client/amounts`. @param {string} name */
function getImportName(name) {
  return `@payment-integration/${name.replace('/src/exports', '').replace(/\/index$/, '')}`
}

/** The group of a type or an error; null: the group of its kind. @param {import('typedoc').Reflection} reflection */
function getGroup(reflection) {
  if (!reflection.kindOf(ReflectionKind.Class)) return 'Types'
  return reflection.name.endsWith('Error') ? 'Errors' : null
}
