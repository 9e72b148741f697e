/** The funded accounts of a development chain. @module */
import { type HDAccount, mnemonicToAccount } from 'viem/accounts'

/** The mnemonic of anvil's default accounts. Its keys are public: use them on development chains only. */
export const testMnemonic = 'test test test test test test test test test test test junk'

/**
 * A funded account of a chain started with `mnemonic`.
 * @param index - 0 to 9 hold 10,000 native tokens each. `deployDevRouter` uses 0 to deploy and 9 as treasury.
 */
export function devAccount(index: number, mnemonic: string = testMnemonic): HDAccount {
  return mnemonicToAccount(mnemonic, { addressIndex: index })
}
