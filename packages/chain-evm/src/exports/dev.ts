export {
  type Anvil,
  AnvilExitError,
  AnvilMissingError,
  type AnvilOptions,
  anvilDefaults,
  startAnvil,
} from '../dev/anvil.js'
export {
  type DeployOptions,
  type DevDeployment,
  type DevTokenInfo,
  deployDefaults,
  deployDevRouter,
} from '../dev/deploy.js'
export type { DevChain } from '../dev/dev-chain.js'
export { DevChainError, devAccount, testMnemonic } from '../dev/dev-chain.js'
export { createPayer, type DevPayment, type Payer, type PayerOptions } from '../dev/payer.js'
