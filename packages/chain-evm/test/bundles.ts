/** Encodes calldata and logs of ERC-4337 bundles. @module */
import { type Address, encodeFunctionData, type Hex, pad, parseAbi, toHex } from 'viem'
import type { ReceiptLog } from '../src/rpc/answers.js'

const former =
  'struct Op { address sender; uint256 nonce; bytes initCode; bytes callData; uint256 callGasLimit; uint256 verificationGasLimit; uint256 preVerificationGas; uint256 maxFeePerGas; uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature; }'
const packed =
  'struct Op { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }'
const aggregate = 'struct Aggregate { Op[] userOps; address aggregator; bytes signature; }'
const plainCall = 'function handleOps(Op[] ops, address beneficiary)'
const aggregatedCall = 'function handleAggregatedOps(Aggregate[] opsPerAggregator, address beneficiary)'

const abis = {
  '0.6': { plain: parseAbi([former, plainCall]), aggregated: parseAbi([former, aggregate, aggregatedCall]) },
  '0.7': { plain: parseAbi([packed, plainCall]), aggregated: parseAbi([packed, aggregate, aggregatedCall]) },
}
export type EntryPointVersion = keyof typeof abis

export interface TestOperation {
  readonly sender: Address
  readonly callData: Hex
}

const beneficiary: Address = '0x00000000000000000000000000000000000000be'

function fill({ sender, callData }: TestOperation) {
  const gas = { callGasLimit: 1n, verificationGasLimit: 2n, maxFeePerGas: 3n, maxPriorityFeePerGas: 4n }
  const word = pad('0x01', { size: 32 })
  const rest = { preVerificationGas: 5n, paymasterAndData: '0x', signature: '0x1234', initCode: '0xabcdef' } as const
  return { sender, callData, nonce: 7n, ...gas, accountGasLimits: word, gasFees: word, ...rest }
}

/** `handleOps`. */
export function bundle(version: EntryPointVersion, operations: readonly TestOperation[]): Hex {
  const args = [operations.map(fill), beneficiary] as never
  return encodeFunctionData({ abi: abis[version].plain, functionName: 'handleOps', args })
}

/** `handleAggregatedOps`. */
export function aggregatedBundle(version: EntryPointVersion, groups: readonly (readonly TestOperation[])[]): Hex {
  const aggregates = groups.map((group) => ({ userOps: group.map(fill), aggregator: beneficiary, signature: '0x99' }))
  const args = [aggregates, beneficiary] as never
  return encodeFunctionData({ abi: abis[version].aggregated, functionName: 'handleAggregatedOps', args })
}

/** `UserOperationEvent`: ends an operation. */
export function closing(entryPoint: Address, sender: Address): ReceiptLog {
  const topic = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
  const topics = [topic, pad(toHex(1), { size: 32 }), pad(sender, { size: 32 }), pad('0x', { size: 32 })]
  return { address: entryPoint, topics, data: `0x${'00'.repeat(128)}` }
}

/** `BeforeExecution`: ends the validation. */
export function beforeExecution(entryPoint: Address): ReceiptLog {
  const topic = '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972'
  return { address: entryPoint, topics: [topic], data: '0x' }
}
