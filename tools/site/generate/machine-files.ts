/** Makes the files for machines: llms.txt, llms-full.txt, the OpenAPI document and the JSON Schemas. @module */
import { openApi } from './http-page.js'

export interface MachinePage {
  readonly route: string
  readonly title: string
  readonly text: string
}

const intro = [
  '# Payment integration service',
  '',
  '> Indexes on-chain payments, stores a state and a version for each, and notifies integrators by signed webhooks.',
  '',
].join('\n')

/** Files by path, for the root of the site. */
export function buildMachineFiles(pages: readonly MachinePage[], agents: string): Map<string, string> {
  const written = pages.filter(({ route }) => !route.startsWith('api/') && route !== 'index')
  const list = written.map(({ route, title }) => `- [${title}](/${route}.md)`)
  return new Map([
    ['llms.txt', `${intro}${agentsLine}\n## Pages\n\n${list.join('\n')}\n`],
    ['llms-full.txt', `${intro}\n${written.map(({ route, text }) => `<!-- /${route}.md -->\n\n${text}`).join('\n\n')}`],
    ['AGENTS.md', agents],
    ['openapi.json', `${JSON.stringify(openApi, null, 2)}\n`],
    ['schemas.json', `${JSON.stringify(buildSchemas(), null, 2)}\n`],
    ...written.map(({ route, text }) => [`${route}.md`, text] as const),
  ])
}

const agentsLine = 'For the repository of an integrator: [AGENTS.md](/AGENTS.md). HTTP: [OpenAPI](/openapi.json).\n'

/** One JSON Schema document with a definition for each shape on the wire. */
function buildSchemas() {
  const definitions = JSON.parse(
    JSON.stringify(openApi.components['schemas'] ?? {}).replaceAll('#/components/schemas/', '#/$defs/'),
  )
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', $defs: definitions }
}
