/** `payment-integration secrets reseal`: encrypts secrets with the newest master key. @module */
import type { Resealed } from '@payment-integration/core'
import type { Command } from 'commander'
import { addGroup, examples, type Finish, optionsOf, withActor } from '../command.js'
import { grouped } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Adds the group and its command. */
export function addSecrets(program: Command, io: Io, finish: Finish): void {
  const add = addGroup(program, 'secrets', 'manage the encryption of secrets', 'secrets reseal')

  withActor(
    add(
      'reseal',
      'encrypt signing secrets and data keys with the newest master key, and list what still needs an older key',
    ),
  )
    .addHelpText('after', examples('secrets reseal', 'secrets reseal --actor alice --json'))
    .action(async (_options, command) => finish(await resealSecrets(optionsOf<OperateOptions>(command), io)))
}

/**
 * Encrypts signing secrets and data keys with the newest master key, the first of `PI_MASTER_KEY`.
 * Prints which secrets still need an older key, and how to replace them. May run at any time, repeatedly.
 */
function resealSecrets(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ integrations }, report) => {
    report({ event: 'secrets.resealed', ...(await integrations.resealSecrets()) }, resealedText)
  })
}

function resealedText({ resealed, dataKeys, olderApiSecrets, olderLegacyKeys }: Resealed): string[] {
  const lines = [
    resealed + dataKeys === 0
      ? 'All signing secrets and data keys were already encrypted with the newest master key.'
      : `Encrypted with the newest master key: ${counted(resealed, 'signing secret', 'signing secrets')}, ${counted(dataKeys, 'data key', 'data keys')}.`,
  ]
  if (olderApiSecrets.length > 0)
    lines.push(
      `${counted(olderApiSecrets.length, 'API secret needs', 'API secrets need')} an older master key, also a previous secret in its grace time.`,
      'Rotate each secret, deploy the new one, and run this command again after the grace time:',
      ...olderApiSecrets.map((address) => `  payment-integration integrations rotate-secret ${address}`),
    )
  if (olderLegacyKeys.length > 0)
    lines.push(
      `${counted(olderLegacyKeys.length, 'legacy API key needs', 'legacy API keys need')} an older master key.`,
      'Create a new key for each caller, then run:',
      ...olderLegacyKeys.map((id) => `  payment-integration legacy-keys revoke ${id}`),
    )
  const isDone = olderApiSecrets.length === 0 && olderLegacyKeys.length === 0
  lines.push(
    isDone
      ? 'No secret needs an older master key: remove the older keys from PI_MASTER_KEY. Store them for audit verify, which needs the key of each record.'
      : 'Leave the older keys in PI_MASTER_KEY, after the newest, until this command reports that no secret needs them.',
  )
  return lines
}

const counted = (count: number, one: string, many: string) => `${grouped(count)} ${count === 1 ? one : many}`
