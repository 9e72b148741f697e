/** Gives the console the tools of a server in development; secrets of integrations stay here. @module */
import type { ConsoleTools, DoctorInput, DoctorResult, ExplainForm, ExplainResult } from '@payment-integration/console'
import type { MasterKey } from '@payment-integration/core'
import { openSecret } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import type { TriggerHandler } from '../app/trigger-route.js'

/** Tools that a host of a server in development passes, such as those of testing. */
export interface DevelopmentTools {
  /** Probes a receiver. */
  doctor?(input: DoctorInput & { readonly url: string; readonly signingSecret: string }): Promise<DoctorResult>
  /** Explains a delivery. */
  explain?(input: ExplainForm & { readonly signingSecret: string }): Promise<ExplainResult>
}

/** The parts of {@link createConsoleTools}. */
export interface ConsoleToolsDeps {
  readonly store: { readonly integrations: Pick<Store['integrations'], 'find'> }
  readonly masterKey: MasterKey
  readonly tools: DevelopmentTools
  /** Null where no chain is simulated. */
  readonly trigger: TriggerHandler | null
  readonly simulatedChains: readonly number[]
}

/**
 * Creates the tools. A tool rejects with SealedSecretError `ERR_SECRET_UNREADABLE` when the master key is another
 * one.
 */
export function createConsoleTools(deps: ConsoleToolsDeps): ConsoleTools {
  const { store, masterKey, tools, trigger, simulatedChains } = deps
  const { doctor, explain } = tools
  async function receiverOf(address: string) {
    const integration = await store.integrations.find(address)
    if (integration === null) throw new TypeError('The integration was removed meanwhile.')
    const { signingSecret, notificationUrl } = integration
    return { url: notificationUrl ?? '', signingSecret: openSecret(masterKey, address, signingSecret) }
  }
  return {
    ...(trigger === null ? {} : { trigger: { chainIds: simulatedChains, run: trigger } }),
    ...(doctor === undefined
      ? {}
      : { doctor: async (input) => doctor({ ...input, ...(await receiverOf(input.integrationAddress)) }) }),
    ...(explain === undefined
      ? {}
      : {
          async explain(input) {
            const { signingSecret } = await receiverOf(input.integrationAddress)
            return explain({ ...input, signingSecret })
          },
        }),
  }
}
