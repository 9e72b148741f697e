/** ky as a function, in both builds. @module */
import imported from 'ky'

/** The ky function. */
export const ky: typeof imported = /* @__PURE__ */ functionOf(imported)

/** ky is an ES module. Required from the CommonJS build, its default export arrives one level down. */
function functionOf(module: typeof imported & { readonly default?: typeof imported }): typeof imported {
  return module.default ?? module
}
