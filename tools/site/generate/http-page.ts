/** Generates the reference of the HTTP endpoints from the OpenAPI document. @module */
import { version } from '@payment-integration/cli'
import { createOpenApiDocument } from '@payment-integration/contract/openapi'
import { toCell } from './markdown.js'

interface Described {
  readonly $ref?: string
  readonly description?: string
}
interface Parameter extends Described {
  readonly name?: string
  readonly in?: string
  readonly required?: boolean
}
interface Operation extends Described {
  readonly summary?: string
  readonly parameters?: readonly Parameter[]
  readonly responses?: Readonly<Record<string, Described>>
}

/** The document that the server serves at `/openapi.json`. */
export const openApi = createOpenApiDocument({ version }) as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>
}

const verbs = new Set(['get', 'post', 'put', 'patch', 'delete'])

/** One page: every operation with its parameters and answers. */
export function buildHttpPage(): string {
  const parts = [
    '# HTTP endpoints',
    'Download: [OpenAPI 3.1](/openapi.json), [JSON Schemas](/schemas.json). A running server shows the same document at `/openapi.json`.',
  ]
  for (const [path, item] of Object.entries(openApi.paths)) parts.push(...getOperations(path, item))
  parts.push('# Notifications')
  for (const [name, item] of Object.entries(openApi.webhooks)) parts.push(...getOperations(name, item))
  return `${parts.join('\n\n')}\n`
}

function getOperations(path: string, item: Readonly<Record<string, Operation>>): string[] {
  return Object.entries(item)
    .filter(([verb]) => verbs.has(verb))
    .flatMap(([verb, operation]) => [
      // As code: braces at the end of a heading would name its attributes.
      `## \`${verb.toUpperCase()} ${path}\``,
      `**${operation.summary ?? ''}**`,
      ...(operation.description === undefined ? [] : [operation.description]),
      ...getParameters(operation),
      ...getAnswers(operation),
    ])
}

function getParameters({ parameters = [] }: Operation): string[] {
  const rows = parameters.map((parameter) => {
    const { name, in: location, required, description } = resolve<Parameter>(parameter)
    return `| \`${name}\` | ${location}${required ? ', required' : ''} | ${toCell(description)} |`
  })
  return rows.length === 0 ? [] : [['| Parameter | In | Meaning |', '| --- | --- | --- |', ...rows].join('\n')]
}

function getAnswers({ responses = {} }: Operation): string[] {
  const rows = Object.entries(responses).map(
    ([status, answer]) => `| ${status} | ${toCell(resolve(answer).description)} |`,
  )
  return [['| Status | Meaning |', '| --- | --- |', ...rows].join('\n')]
}

/** The part that a reference names, or the part itself. */
function resolve<Part extends Described>(part: Part): Part {
  if (part.$ref === undefined) return part
  const [kind = '', name = ''] = part.$ref.replace('#/components/', '').split('/')
  return (openApi.components[kind]?.[name] ?? {}) as Part
}
