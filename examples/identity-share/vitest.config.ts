import { packageTests } from '../../vitest.package.js'

export default packageTests('example-identity-share', { timeoutMs: 60_000 })
