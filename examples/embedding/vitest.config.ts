import { packageTests } from '../../vitest.package.js'

export default packageTests('example-embedding', { timeoutMs: 60_000 })
