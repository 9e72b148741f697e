/** ky as a function, in both builds. @module */
import imported from 'ky'

// ky is an ES module. Required from the CommonJS build, its default export arrives one level down.
const { default: inner } = imported as unknown as { default?: typeof imported }

/** The ky function. */
export const ky: typeof imported = inner ?? imported
