export { type Anvil, type AnvilOptions, startAnvil } from '../dev/anvil.js'
export {
  DevChainError,
  type DevChainErrorCode,
  type DevDeployment,
  deployDevRouter,
  deriveDevAccount,
} from '../dev/dev-chain.js'
export { createPayer, type Payer } from '../dev/payer.js'
