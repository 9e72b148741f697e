/** Names a few pages of each kind: the browser test builds only these. @module */

/** Routes: the home page, a written one, one from templates, generated ones, one with a figure, a list. */
export const sample: readonly string[] = [
  'index',
  'start',
  'receive/express',
  'reference/errors',
  'reference/http',
  'concepts/outbox',
  'decisions/index',
]
