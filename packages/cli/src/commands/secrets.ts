/** `payment-integration secrets reseal`: encrypts secrets with the newest master key. @module */
import type { Resealed } from '@payment-integration/core'
import type { Command } from 'commander'
import { addGroup, examples, type Finish, optionsOf, withActor } from '../command.js'
import { grouped } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Adds the group and its command. */
export function addSecrets(program: Command, io: Io, finish: Finish): void {
  const add = addGroup(program, 'secrets', 'change how secrets are kept', 'secrets reseal')

  withActor(
    add(
      'reseal',
      'seal every signing secret and data key with the newest master key, and tell what still needs an older one',
    ),
  )
    .addHelpText('after', examples('secrets reseal', 'secrets reseal --actor alice --json'))
    .action(async (_options, command) => finish(await resealSecrets(optionsOf<OperateOptions>(command), io)))
}

/**
 * Seals every signing secret and data key with the newest master key, and says what still needs an older one and what
 * to do about it. The first key of `PI_MASTER_KEY` is the newest. It may be run again at any time.
 */
export function resealSecrets(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ integrations }, report) => {
    report({ event: 'secrets.resealed', ...(await integrations.resealSecrets()) }, resealedText)
  })
}

function resealedText({ resealed, dataKeys, olderApiSecrets, olderLegacyKeys }: Resealed): string[] {
  const lines = [
    resealed + dataKeys === 0
      ? 'Every signing secret and data key was sealed with the newest master key before.'
      : `Sealed with the newest master key now: ${counted(resealed, 'signing secret', 'signing secrets')}, ${counted(dataKeys, 'data key', 'data keys')}.`,
  ]
  if (olderApiSecrets.length > 0)
    lines.push(
      `${counted(olderApiSecrets.length, 'API secret needs', 'API secrets need')} an older key; a previous one within its grace time counts.`,
      'Rotate each, hand the new one over, and run this again when the grace time is over:',
      ...olderApiSecrets.map((address) => `  payment-integration integrations rotate-secret ${address}`),
    )
  if (olderLegacyKeys.length > 0)
    lines.push(
      `${counted(olderLegacyKeys.length, 'legacy API key needs', 'legacy API keys need')} an older key.`,
      'Create a new one for each caller, then:',
      ...olderLegacyKeys.map((id) => `  payment-integration legacy-keys revoke ${id}`),
    )
  const isDone = olderApiSecrets.length === 0 && olderLegacyKeys.length === 0
  lines.push(
    isDone
      ? 'No secret needs an older master key any more: take the older ones out of PI_MASTER_KEY. Keep them for audit verify, which needs the key of each record.'
      : 'Leave the older keys in PI_MASTER_KEY, behind the newest, until this command says that no secret needs them.',
  )
  return lines
}

const counted = (count: number, one: string, many: string) => `${grouped(count)} ${count === 1 ? one : many}`
