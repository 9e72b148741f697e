const { EvmBatchProcessor } = require('@subsquid/evm-processor')
const { TypeormDatabase } = require('@subsquid/typeorm-store')
const { decodeEventLog, parseAbi } = require('viem')
const { Outbox, Payment } = require('./lib/model')

const { RPC_URL, ROUTER, FROM, TO } = process.env
const abi = parseAbi([
  'event Yodl(address indexed sender, address indexed receiver, address token, uint256 amount, uint256 fees, bytes32 memo)',
])
const topic0 = ['0x34597715a6a440e45ac583030622c386dc1299eb0d4fc56eaa9eba541462bbcd']

const processor = new EvmBatchProcessor()
  .setRpcEndpoint({ url: RPC_URL, maxBatchCallSize: 100, capacity: 10 })
  .setFinalityConfirmation(0)
  .setBlockRange({ from: Number(FROM), to: Number(TO) })
  .setFields({ block: { timestamp: true }, transaction: { hash: true, input: true } })
  .addLog({ address: [ROUTER], topic0, transaction: true })

processor.run(new TypeormDatabase({ supportHotBlocks: true }), async ({ blocks, store }) => {
  const payments = []
  const outbox = []
  for (const { header, logs } of blocks)
    for (const log of logs) {
      const { args } = decodeEventLog({ abi, topics: log.topics, data: log.data })
      const { hash, input } = log.transaction
      const end = input.length - 36
      const integration = Buffer.from(input.slice(end - 84, end), 'hex').toString()
      payments.push(
        new Payment({
          id: log.id,
          blockNumber: header.height,
          time: header.timestamp,
          sender: args.sender,
          receiver: args.receiver,
          token: args.token,
          gross: String(args.amount),
          net: String(args.amount - args.fees),
          memo: args.memo,
          integration,
        }),
      )
      const body = { integrationAddress: integration, chainId: '31337', txHash: hash, version: 1 }
      outbox.push(new Outbox({ id: log.id, body: JSON.stringify(body) }))
    }
  await store.insert(payments)
  await store.insert(outbox)
})
