import { ponder } from 'ponder:registry'
import { outbox, payments } from 'ponder:schema'

ponder.on('router:Yodl', async ({ event, context }) => {
  const { args, block, transaction, log, id } = event
  const end = transaction.input.length - 36
  const integration = Buffer.from(transaction.input.slice(end - 84, end), 'hex').toString()
  await context.db.insert(payments).values({
    id,
    blockNumber: block.number,
    time: block.timestamp,
    sender: args.sender,
    receiver: args.receiver,
    token: args.token,
    gross: args.amount,
    net: args.amount - args.fees,
    memo: args.memo,
    integration,
  })
  const body = {
    integrationAddress: integration,
    chainId: '31337',
    txHash: transaction.hash,
    version: 1,
    logIndex: log.logIndex,
  }
  await context.db.insert(outbox).values({ id, body: JSON.stringify(body) })
})
