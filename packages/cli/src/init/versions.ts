/** The versions that `init` writes into a project. @module */
import { version } from '../version.js'

/** All packages of this project have one version. */
const own = ['version-store', 'webhook', 'testing'].map((name) => [`@payment-integration/${name}`, version])

/** Exact versions of packages, as this project tests them. */
export const versions: Readonly<Record<string, string>> = {
  ...Object.fromEntries(own),
  '@hono/node-server': '2.1.8',
  '@photostructure/sqlite': '1.2.1',
  '@types/node': '20.19.43',
  '@types/pg': '8.23.1',
  pg: '8.23.1',
  tsx: '4.23.15',
}
