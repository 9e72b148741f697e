/** Types of the web platform, from the reader's own compiler: the DOM library, Node, Bun or Workers. @module */

/** The runtime's `Response`. */
export type WebResponse = typeof globalThis extends { Response: { prototype: infer Type } } ? Type : object

/** The runtime's `AbortSignal`. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Type } }
  ? Type
  : { readonly aborted: boolean; readonly reason: unknown }
