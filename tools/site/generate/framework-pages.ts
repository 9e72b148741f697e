/** Makes a page for each framework from the templates of `init`, which its tests run. @module */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { frameworkNames, frameworks, mountLines } from '../../../packages/cli/src/init/layout.js'
import { fromTemplate, type Target } from '../../../packages/cli/src/init/template.js'

const target: Target = {
  extension: 'ts',
  isCommonJs: false,
  namesExtension: true,
  testRunner: 'node:test',
  path: '/webhook',
}
const words = { PAYMENTS_FOLDER: './payments' }

/** Pages by route: one for each framework. */
export async function buildFrameworkPages(root: string): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  for (const name of frameworkNames) {
    const { title, needs, databases } = frameworks[name]
    const exists = (file: string) => existsSync(join(root, `packages/cli/templates/${file}.ts`))
    const files = [
      ...['webhook', 'route', 'handler', 'worker', 'payment-object'].map((file) => `${name}/${file}`),
      ...(databases.length === 0 ? [] : [`shared/receiver.${databases[0]}`]),
      exists(`${name}/webhook-test`) ? `${name}/webhook-test` : 'shared/webhook-test',
    ].filter(exists)
    const parts = [
      `# Receive webhooks with ${title}`,
      `The receiver verifies the raw bytes, and handles each version once. Write it, its tables and its test into your project${needs.length === 0 ? '' : `, which has ${needs.map((each) => `\`${each}\``).join(', ')}`}:`,
      `\`\`\`sh\nnpx @payment-integration/cli init ${name}\n\`\`\``,
      mountLines[name]('payments')
        .replace(/: (.+), from (.+)[.]$/, ': `$1`, from `$2`.')
        .replaceAll(/npx wrangler [^,.]+/g, '`$&`'),
      'Set `WEBHOOK_SIGNING_SECRET` and start. Then let the [doctor](/doctor.md) probe the address: it names each fault with the line to change. Lost notifications are repaired by [reconciling](/decisions/reconciling.md).',
      'The handler keeps the newest state of each payment. To credit an order, read [credit an order once](/guides/credit-an-order.md). Behind a proxy, read [receive behind nginx](/guides/receive-behind-nginx.md). `--database` chooses another database.',
      '## The files that it writes',
    ]
    for (const file of files)
      parts.push(
        `### ${file.replace(/.*\//, '')}.ts`,
        `\`\`\`ts\n${(await fromTemplate(file, target, words)).trimEnd()}\n\`\`\``,
      )
    pages.set(`receive/${name}`, `${parts.join('\n\n')}\n`)
  }
  return pages
}
