import { packageTests } from '../../vitest.package.js'

export default packageTests('example-legacy-verify', { timeoutMs: 60_000 })
