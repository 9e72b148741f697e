/** How much of an answer is kept. @module */

/** Most bytes of an answer's body that the attempt log keeps. */
export const excerptBytes = 1_024
