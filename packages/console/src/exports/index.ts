export type { AdminService } from '../admin-pages.js'
export { type Console, type ConsoleDeps, type ConsoleService, createConsole } from '../create-console.js'
export type { OidcOptions } from '../oidc/options.js'
export { createPortal, type Portal, type PortalDeps, type PortalSignInOptions } from '../portal/create-portal.js'
export type { PortalService } from '../portal/tenant.js'
export type { SignInOptions } from '../session/sign-in.js'
export type {
  ConsoleTools,
  DoctorInput,
  DoctorResult,
  ExplainedDelivery,
  ExplainForm,
  ExplainResult,
  ReceiverProbe,
  TriggerTool,
} from '../tools/tools.js'
export type { Role, Viewer } from '../viewer.js'
export type { ConsoleBindings } from '../web/access.js'
