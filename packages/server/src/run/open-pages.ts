/** Opens the pages of operators and integrators. Source: docs/decisions/operators.md. @module */
import type {
  Console,
  ConsoleTools,
  DoctorInput,
  DoctorResult,
  ExplainForm,
  ExplainResult,
  Portal,
  SignInOptions,
} from '@payment-integration/console'
import { IntegrationError, parseMasterKey, type Service } from '@payment-integration/core'
import { loadPackage, openSecret } from '@payment-integration/core/internal'
import type { Logger, Store } from '@payment-integration/core/ports'
import type { TriggerHandler } from '../app/streaming-routes.js'
import type { Config } from '../config/read-config.js'
import { createSourceReader, type RequestLimits } from '../limits/request-limits.js'
import { toErrorFields } from '../logging/log.js'

interface PagesDeps {
  readonly service: Service
  readonly logger: Logger
}

interface ConsoleDeps extends PagesDeps {
  readonly store: { readonly integrations: Pick<Store['integrations'], 'find'> }
  /** Null where no chain is simulated. */
  readonly trigger: TriggerHandler | null
  /** @default none */
  readonly tools: DevelopmentTools | undefined
}

/** Loads the console package only when pages are opened, so that a server without pages starts faster. */
function loadConsole(setting: 'PI_CONSOLE' | 'PI_PORTAL') {
  return loadPackage('@payment-integration/console', setting, () => import('@payment-integration/console'))
}

/** Finds the source of a sign-in as the rate limits do: the client's address, read through trusted proxies. */
function createSourceFinder({ limits }: Config): SignInOptions['findSource'] {
  const { findSource } = createSourceReader(limits.trustedProxies)
  return ({ headers }, { incoming }) => findSource(incoming?.socket.remoteAddress, headers.get('x-forwarded-for'))
}

/** Opens the console. With `consoleUrl` operators must sign in. */
export async function openConsole(config: Config, deps: ConsoleDeps): Promise<Console> {
  const { service, logger } = deps
  const { createConsole } = await loadConsole('PI_CONSOLE')
  const { consoleUrl, environment, oidc } = config
  const findSource = createSourceFinder(config)
  // Loaded only here: most servers do not use the HTTP client of the OpenID sign-in.
  const provider = oidc && { ...oidc, fetch: (await import('../internal/outgoing-fetch.js')).createFetch() }
  return createConsole({
    service,
    settings: config.settings,
    environment,
    tools: createConsoleTools(config, deps),
    onError: (error) => logger.error({ ...toErrorFields(error) }, 'A page of the console failed.'),
    signIn: consoleUrl === null ? undefined : { publicUrl: consoleUrl, oidc: provider ?? undefined, findSource },
  })
}

/** Opens the portal; null where it is off. */
export async function openPortal(
  config: Config,
  { service, logger, limits }: PagesDeps & { readonly limits: RequestLimits | undefined },
): Promise<Portal | null> {
  if (config.portal === null) return null
  const { createPortal } = await loadConsole('PI_PORTAL')
  return createPortal({
    service,
    environment: config.environment,
    countCall: limits?.countCall,
    signIn: { publicUrl: config.portal.publicUrl ?? undefined, findSource: createSourceFinder(config) },
    onError: (error) => logger.error({ ...toErrorFields(error) }, 'A page of the portal failed.'),
  })
}

/** Tools that the program around a development server may pass, such as those of the package `testing`. */
export interface DevelopmentTools {
  /** Probes a receiver. */
  doctor?(input: DoctorInput & { readonly url: string; readonly signingSecret: string }): Promise<DoctorResult>
  /** Explains a delivery. */
  explain?(input: ExplainForm & { readonly signingSecret: string }): Promise<ExplainResult>
}

/**
 * Creates the console's tools; none outside of development. A tool rejects with SealedSecretError
 * `ERR_SECRET_UNREADABLE` when another master key sealed the signing secret.
 */
function createConsoleTools(config: Config, { store, trigger, tools }: ConsoleDeps): ConsoleTools {
  if (config.environment !== 'development') return {}
  const masterKey = parseMasterKey(config.masterKey)
  const { doctor, explain } = tools ?? {}
  async function findReceiver(address: string) {
    const integration = await store.integrations.find(address)
    if (integration === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
    const { signingSecret, notificationUrl } = integration
    return { url: notificationUrl ?? '', signingSecret: openSecret(masterKey, address, signingSecret) }
  }
  return {
    ...(trigger && { trigger: { chainIds: config.simulatedChains, run: trigger } }),
    ...(doctor && {
      doctor: async (input) => doctor({ ...input, ...(await findReceiver(input.integrationAddress)) }),
    }),
    ...(explain && {
      async explain(input) {
        const { signingSecret } = await findReceiver(input.integrationAddress)
        return explain({ ...input, signingSecret })
      },
    }),
  }
}
