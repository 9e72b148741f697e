/** A delivery whose snapshot has characters that a shell, printf and JavaScript read in their own way. */
import type { RepeatedDelivery } from '../src/pages/repeat.js'

const title = `it's "50%" \\n \`id\` $(id) \u202e\u2028 K\u00e4se \u{1f9c0}`
const names = { integrationAddress: `0x${'a1'.repeat(20)}`, txHash: `0x${'b2'.repeat(32)}`, version: 2 }

export function repeatedDelivery(): RepeatedDelivery {
  const { integrationAddress, txHash, version } = names
  const rest = { version, state: 'success', recipient: { title, subtitle: null }, invoice: null }
  return { ...names, text: JSON.stringify({ integrationAddress, chainId: '137', txHash, ...rest }), url: null }
}
