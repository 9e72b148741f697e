/** The introduction of the document. Source: docs/interface.md 1, 4, 5, 7. @module */

/** One line about the service. */
export const summary = 'On-chain payments: read, look up and verify them, and receive a notification of every change.'

/** Rules of all endpoints, in CommonMark. */
export const description = `An integration reads the payments that name its address, and receives a signed notification for every change.

## Checks before any endpoint

- Authentication comes first. Under the paths of an API, a request without valid credentials gets 401, whatever else is wrong with it.
- Malformed HTTP gets 400, a request that arrives too slowly 408, and one with too large headers 431. The body is \`{"error": "<message>"}\`, and the request reaches no endpoint.
- An unlisted path gets 404. Exceptions are this document and, if the operator serves it, the page \`/reference\` with its files and the redirects (308) to it from \`/\` and \`/reference/\`.
- A method that is not listed for a path gets 405, and \`Allow\` lists the allowed methods. HEAD gets the answer of GET, without a body.

## Answers

- A newer service may add fields to an answer. Ignore unknown fields.
- Amounts are strings. Do not turn them into floating-point numbers.
- The body of an error is \`{"error": "<message>"}\`. The message is for people; programs decide by the status. A 400 of a legacy endpoint also has \`details\`, except for malformed HTTP.
- 503: try again, after \`Retry-After\` if the answer has it.
- 429: the source or the caller exceeded a rate limit of the operator. Try again after \`Retry-After\`. After too many wrong credentials, every request of the source gets 429, except to the health endpoints.
`

/** The groups of the endpoints. */
export const tags = [
  { name: 'Payments', description: 'The read API of an integration.' },
  { name: 'Identity', description: 'Share the identity verification of a user.' },
  { name: 'Legacy', description: 'Look up a transaction by chain and hash, and verify it against an invoice.' },
  { name: 'Processor', description: 'Signed updates from payment processors.' },
  { name: 'Health', description: 'For operators and load balancers.' },
  { name: 'Notifications', description: 'Deliveries to the notification URL of an integration, and their stream.' },
] as const
