/** The introduction of the document. Source: docs/interface.md 1, 4, 5, 7. @module */

/** One line about the service. */
export const summary = 'Payments on chain: read them, look them up, verify them, and be told of every change.'

/** Rules of all endpoints, in CommonMark. */
export const description = `An integration reads the payments that named its address, and gets a signed notification for every change.

## Before any endpoint

- Authentication comes first: below the paths of an API, a caller who is not authenticated gets 401, whatever else is wrong.
- A message that is not well-formed HTTP gets 400, one that arrives too slowly 408, and one with too large headers 431, each with \`{"error": "<message>"}\` and before any endpoint sees it.
- A path that is not listed is 404, but for this document and, where the operator shows it, the page \`/reference\`, what it loads, and the redirects to it from \`/\` and \`/reference/\` (308). Another method than the listed one is 405, and \`Allow\` names the right ones. HEAD is answered like GET, without a body.

## Answers

- Answers may gain fields. Ignore those that you do not know.
- Amounts are strings. Do not turn them into floating-point numbers.
- Errors are \`{"error": "<message>"}\`. The message is for people; decide by the status. A 400 of a legacy endpoint also has \`details\`, unless the message is not well-formed HTTP.
- 503 means: try again, after \`Retry-After\` where it is there.
- 429 means: the operator limits how often one source or one caller may ask. Try again after \`Retry-After\`. A source that sent wrong credentials too often gets it whatever it sends, health apart.
`

/** The groups of the endpoints. */
export const tags = [
  { name: 'Payments', description: 'The read API of an integration.' },
  { name: 'Identity', description: 'Share the identity verification of a user.' },
  { name: 'Legacy', description: 'Look up a transaction by chain and hash, and verify it against an invoice.' },
  { name: 'Processor', description: 'Signed updates from payment processors.' },
  { name: 'Health', description: 'For operators and load balancers.' },
  { name: 'Notifications', description: 'What the service sends to the notification URL of an integration.' },
] as const
