import { packageTests } from '../../vitest.package.js'

export default packageTests('example-worker', { timeoutMs: 60_000 })
