import { createConfig } from 'ponder'
import { parseAbi } from 'viem'

const { RPC_URL = '', ROUTER = '', FROM = '', TO = '', PI_DATABASE_URL = '', ENDPOINTS = '1' } = process.env

export default createConfig({
  // ponder limits the rate per endpoint: listing one endpoint many times lifts the limit.
  chains: {
    dev: { id: 31_337, rpc: Array(Number(ENDPOINTS)).fill(RPC_URL), disableCache: true, pollingInterval: 1_000 },
  },
  database: { kind: 'postgres', connectionString: PI_DATABASE_URL },
  contracts: {
    router: {
      abi: parseAbi([
        'event Yodl(address indexed sender, address indexed receiver, address token, uint256 amount, uint256 fees, bytes32 memo)',
      ]),
      chain: 'dev',
      address: ROUTER as `0x${string}`,
      startBlock: Number(FROM),
      endBlock: Number(TO),
    },
  },
})
