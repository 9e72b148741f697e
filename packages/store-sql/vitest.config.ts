import { packageTests } from '../../vitest.package.js'

export default packageTests('store-sql', { timeoutMs: 60_000, sharesModules: true })
