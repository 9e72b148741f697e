/** Orders the pages by what a reader wants to do. A page that no path names joins its folder's group. @module */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getTitle } from '../generate/markdown.js'

interface Item {
  readonly text: string
  readonly link?: string
  readonly collapsed?: boolean
  readonly items?: Item[]
}

/** Routes by path; `folder/*` takes every page of the folder that no earlier path has taken. */
const paths: readonly (readonly [string, readonly string[]])[] = [
  ['Start', ['start', 'documentation', 'repository', 'doctor', 'explain', 'agents']],
  [
    'Receive webhooks',
    [
      'packages/webhook/index',
      'guides/receive-in-a-framework',
      'guides/receive-behind-nginx',
      'guides/add-a-receiver',
      'receive/*',
      'vectors/verifiers/*',
      'decisions/receiving',
      'packages/version-store/index',
      'guides/store-versions-in-your-database',
      'guides/credit-an-order',
      'rotate-a-signing-secret',
      'examples/receiver/index',
      'examples/express-shop/index',
      'examples/next-app/index',
      'examples/worker/index',
      'examples/lambda/index',
    ],
  ],
  [
    'Read payments and reconcile',
    [
      'packages/client/index',
      'guides/reconcile',
      'guides/compute-with-amounts',
      'decisions/reconciling',
      'decisions/reads',
      'packages/mirror/index',
      'guides/keep-a-local-copy',
    ],
  ],
  [
    'Share an identity verification',
    [
      'examples/identity-share/index',
      'guides/share-a-verification',
      'packages/identity-sumsub/index',
      'decisions/identity',
    ],
  ],
  ['Legacy', ['guides/use-the-legacy-api', 'examples/legacy-verify/index', 'decisions/legacy']],
  [
    'Test your integration',
    [
      'packages/testing/index',
      'guides/test-an-integration',
      'guides/test-shared-verifications',
      'guides/listen-and-trigger',
      'vectors/index',
      'decisions/trigger-and-listen',
    ],
  ],
  [
    'Run the service',
    [
      'guides/run-a-server',
      'deployment',
      'packages/cli/index',
      'guides/manage-accounts',
      'guides/replay-failed-deliveries',
      'guides/limit-requests',
      'guides/operate-shared-verifications',
      'databases',
      'roles',
      'upgrades',
      'backup',
      'retention',
      'observability',
      'packages/console/index',
      'guides/console-and-portal',
      'runbooks/*',
      'scale',
      'performance',
      'tools/bench/*',
      'tools/environments/*',
      'ops/*',
    ],
  ],
  [
    'Embed the service',
    [
      'guides/embed-the-service',
      'examples/embedding/index',
      'examples/fastify-host/index',
      'packages/core/index',
      'packages/server/index',
      'guides/serve-shared-verifications',
      'packages/store-sql/index',
      'guides/rely-on-the-store',
      'architecture',
    ],
  ],
  [
    'Write an adapter',
    ['chain-of-your-own', 'packages/chain-evm/index', 'guides/price-payments', 'packages/chain-feed/index'],
  ],
  ['Concepts', ['concepts/*', 'glossary']],
  ['Reference', ['interface', 'reference/*', 'configuration', 'packages/contract/index', 'errors', 'api/package']],
  ['Decisions', ['decisions/index', 'decisions/*']],
  ['Security', ['security']],
  ['Changelog', ['changelog', 'packages/*']],
  ['Contribute', ['contributing', '*']],
]

/** The sidebar of the whole site. @param pages - The folder of the pages. */
export function buildSidebar(pages: string): Item[] {
  const unlisted = new Set(
    readdirSync(pages, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.startsWith('public'))
      .map((name) => name.replace(/[.]md$/, ''))
      .filter((route) => route !== 'index' && !(route.startsWith('api/') && route !== 'api/package'))
      .toSorted(),
  )
  return paths.flatMap(([text, patterns]) => {
    const routes = patterns.flatMap((pattern) => takeRoutes(unlisted, pattern))
    const items = routes.map((route) => ({
      text: getTitle(route, readFileSync(join(pages, `${route}.md`), 'utf8'))
        .replace('@payment-integration/', '')
        .replace('Receive webhooks with ', '')
        .replace(/^Payment integration$/, 'Overview'),
      link: `/${route.replace(/(^|\/)index$/, '$1')}`,
    }))
    return items.length === 0 ? [] : [{ text, collapsed: text !== 'Start', items }]
  })
}

function takeRoutes(unlisted: Set<string>, pattern: string): string[] {
  const matches = [...unlisted].filter((route) =>
    pattern.endsWith('*') ? route.startsWith(pattern.slice(0, -1)) : route === pattern,
  )
  for (const route of matches) unlisted.delete(route)
  return matches
}
