export { devAccount, testMnemonic } from '../dev/accounts.js'
export { type Anvil, AnvilExitError, type AnvilOptions, anvilDefaults, startAnvil } from '../dev/anvil.js'
export { AnvilMissingError } from '../dev/anvil-binary.js'
export {
  type DeployOptions,
  type DevDeployment,
  type DevTokenInfo,
  deployDefaults,
  deployDevRouter,
} from '../dev/deploy.js'
export type { DevChain } from '../dev/dev-chain.js'
export { DevChainError } from '../dev/dev-chain-error.js'
export { createPayer, type DevPayment, type Payer, type PayerOptions } from '../dev/payer.js'
