/** The deliveries commands on a database with two integrations that have a URL. */
import { onService } from './fill-deliveries.js'
import { getCommands } from './run-commands.js'

export const shop = `0x${'a1'.repeat(20)}`
export const otherShop = `0x${'b2'.repeat(20)}`

/** Answers and verdicts of an attempt. */
export const rejected = {
  answer: { status: 503, reason: 'status_503', excerpt: 'busy\n\u001b[2Jtry again' },
  verdict: { kind: 'exhausted' },
} as const
export const accepted = { answer: { status: 204, reason: null }, verdict: { kind: 'delivered' } } as const
const later = { kind: 'retry', inMs: 600_000 } as const
export const silent = { answer: { status: null, reason: 'timeout' }, verdict: later } as const

/** Creates the database. The variables apply to every command. */
export async function operatedDeliveries(variables: Record<string, string> = {}) {
  const commands = getCommands('deliveries', variables)
  await commands.make()
  await onService(commands.env, async ({ integrations }) => {
    for (const address of [shop, otherShop])
      await integrations.create({ address, notificationUrl: 'https://shop.example/webhook' })
  })
  return commands
}
