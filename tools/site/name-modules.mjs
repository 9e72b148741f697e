/** Names each module of the API reference as an import names it. @module */
import { Converter, ReflectionKind } from 'typedoc'

/** A plugin of typedoc. @param {import('typedoc').Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_context, reflection) => {
    if (reflection.kindOf(ReflectionKind.Module)) reflection.name = importNameOf(reflection.name)
  })
}

/** `client/src/exports/amounts` is imported as `@payment-integration/client/amounts`. @param {string} name */
function importNameOf(name) {
  return `@payment-integration/${name.replace('/src/exports', '').replace(/\/index$/, '')}`
}
